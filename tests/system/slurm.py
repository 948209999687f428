"""A Slurm of one node, with daemons of its own in a folder: for tests of engines."""
import contextlib
import os
import shutil
import socket
import subprocess
import time

NEEDED = ("slurmctld", "slurmd", "munged", "sbatch", "snakemake")

CONFIGURATION = """ClusterName=heddle
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """Programs that are not there."""
    return [name for name in NEEDED if not (shutil.which(name) or shutil.which(
        name, path="/usr/sbin:/sbin"))]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def log_of(folder, name):
    path = folder / f"{name}.log"
    return path.read_text(errors="replace")[-2000:] if path.exists() else "no log"


@contextlib.contextmanager
def cluster(folder):
    """The environment in which `sbatch` finds it; ended with all its daemons."""
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    environment = {**os.environ, "PATH": path, "SLURM_CONF": f"{folder}/slurm.conf"}
    for name in ("state", "spool"):
        (folder / name).mkdir()
    folder.chmod(0o755)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    (folder / "slurm.conf").write_text(CONFIGURATION.format(
        host=socket.gethostname().split(".")[0], controller=free_port(), node=free_port(),
        folder=folder, user=subprocess.check_output(["id", "-un"], text=True).strip()))
    # /tmp and folders above ours may be writable to others, which munge dislikes
    commands = [["munged", "--foreground", "--force", f"--socket={folder}/munge.socket",
                 f"--key-file={key}", f"--pid-file={folder}/munge.pid",
                 f"--log-file={folder}/munge.log", f"--seed-file={folder}/munge.seed"],
                ["slurmctld", "-D", "-c", "-i"], ["slurmd", "-D", "-c"]]
    daemons = []
    try:
        for command in commands:
            with open(folder / f"{command[0]}.out", "wb") as out:
                daemons.append(subprocess.Popen(command, env=environment, stdout=out, stderr=out))
            time.sleep(1)
        for _ in range(60):
            told = subprocess.run(["sinfo", "--noheader", "--format=%T"], env=environment,
                                  capture_output=True, text=True, check=False)
            if told.stdout.strip() == "idle":
                break
            time.sleep(0.5)
        else:
            raise AssertionError("the node does not become idle:\n" + told.stdout + told.stderr
                                 + "".join(f"\n== {n}\n{log_of(folder, n)}" for n in
                                           ("munge", "slurmctld", "slurmd"))
                                 + "".join((folder / f"{c[0]}.out").read_text(errors="replace")
                                           for c in commands))
        yield {"PATH": path, "SLURM_CONF": f"{folder}/slurm.conf"}
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
            try:
                daemon.wait(timeout=10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
