/* The table of opcodes: what each architecture's real instructions are, by a list that was written
 * from the manual's descriptions, not from the table. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/number.h"
#include "components/traces/instruction_trace/nvidia/opcode_classes.h"

static const struct {
    enum itrace_arch arch;
    const char *name;
    enum sass_class unit;
    enum itrace_space space;
} cases[] = {
    {ITRACE_KEPLER, "LD", SASS_CLASS_LOAD, ITRACE_SPACE_GENERIC},
    {ITRACE_KEPLER, "ISUB", SASS_CLASS_INT, ITRACE_SPACE_NONE},
    {ITRACE_KEPLER, "SSY", SASS_CLASS_BRANCH, ITRACE_SPACE_NONE},
    {ITRACE_MAXWELL, "XMAD", SASS_CLASS_INT, ITRACE_SPACE_NONE},
    {ITRACE_PASCAL, "TEXS", SASS_CLASS_TEXTURE, ITRACE_SPACE_NONE},
    {ITRACE_PASCAL, "DMNMX", SASS_CLASS_DP, ITRACE_SPACE_NONE},
    {ITRACE_VOLTA, "HMMA", SASS_CLASS_TENSOR, ITRACE_SPACE_NONE},
    {ITRACE_VOLTA, "MUFU", SASS_CLASS_SFU, ITRACE_SPACE_NONE},
    {ITRACE_VOLTA, "BSSY", SASS_CLASS_BRANCH, ITRACE_SPACE_NONE},
    {ITRACE_TURING, "ULDC", SASS_CLASS_UNIFORM, ITRACE_SPACE_NONE},
    {ITRACE_TURING, "LDSM", SASS_CLASS_LOAD, ITRACE_SPACE_SHARED},
    {ITRACE_AMPERE, "LDGSTS", SASS_CLASS_LOAD, ITRACE_SPACE_GENERIC},
    {ITRACE_AMPERE, "DMMA", SASS_CLASS_TENSOR, ITRACE_SPACE_NONE},
    {ITRACE_AMPERE, "RED", SASS_CLASS_ATOMIC, ITRACE_SPACE_GENERIC},
    {ITRACE_AMPERE, "ATOMS", SASS_CLASS_ATOMIC, ITRACE_SPACE_SHARED},
    {ITRACE_AMPERE, "STL", SASS_CLASS_STORE, ITRACE_SPACE_LOCAL},
    {ITRACE_ADA, "FFMA", SASS_CLASS_SP, ITRACE_SPACE_NONE},
    {ITRACE_HOPPER, "UTMALDG", SASS_CLASS_TMA, ITRACE_SPACE_NONE},
    {ITRACE_HOPPER, "BAR", SASS_CLASS_BARRIER, ITRACE_SPACE_NONE},
    {ITRACE_HOPPER, "EXIT", SASS_CLASS_EXIT, ITRACE_SPACE_NONE},
    {ITRACE_HOPPER, "MEMBAR", SASS_CLASS_MEMBAR, ITRACE_SPACE_NONE},
    {ITRACE_HOPPER, "LDG", SASS_CLASS_LOAD, ITRACE_SPACE_GLOBAL},
    {ITRACE_HOPPER, "STG", SASS_CLASS_STORE, ITRACE_SPACE_GLOBAL},
    {ITRACE_HOPPER, "LDC", SASS_CLASS_ALU, ITRACE_SPACE_NONE},
    /* Not of this architecture, but known elsewhere. */
    {ITRACE_KEPLER, "HMMA", SASS_CLASS_TENSOR, ITRACE_SPACE_NONE},
    {ITRACE_HOPPER, "SSY", SASS_CLASS_BRANCH, ITRACE_SPACE_NONE},
    {ITRACE_ARCH_UNKNOWN, "XMAD", SASS_CLASS_INT, ITRACE_SPACE_NONE},
};

Test(sass_opcode, units_and_spaces)
{
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct sass_opcode opcode;
        cr_expect(sass_opcode_find(cases[i].arch, cases[i].name, strlen(cases[i].name), &opcode),
                  "%s", cases[i].name);
        cr_expect_eq(opcode.unit, cases[i].unit, "%s is %s", cases[i].name,
                     sass_class_name(opcode.unit));
        cr_expect_eq(opcode.space, cases[i].space, "%s", cases[i].name);
    }
}

/* What compilers for each architecture emit, by the sections of the manual's tables: none of them
 * may be unknown to its own architecture or be taken for something else than its section says. */
static const struct {
    enum itrace_arch arch;
    enum sass_class unit;
    const char *names;
} lists[] = {
    {ITRACE_KEPLER, SASS_CLASS_SP, "FFMA FADD FCMP FMUL FMNMX FSWZ FSET FSETP RRO FCHK"},
    {ITRACE_KEPLER, SASS_CLASS_DP, "DFMA DADD DMUL DMNMX DSET DSETP"},
    {ITRACE_KEPLER, SASS_CLASS_INT,
     "IMAD IMADSP IMUL IADD ISCADD ISAD IMNMX BFE BFI SHR SHL SHF LOP FLO ISET ISETP ICMP POPC"},
    {ITRACE_KEPLER, SASS_CLASS_ALU,
     "F2F F2I I2F I2I MOV SEL PRMT SHFL P2R R2P CSET CSETP PSET PSETP LDC CCTL NOP S2R B2R VOTE"},
    {ITRACE_KEPLER, SASS_CLASS_TEXTURE, "TEX TLD TLD4 TXQ SUCLAMP SUBFM SUEAU SULDGA SUSTGA"},
    {ITRACE_KEPLER, SASS_CLASS_LOAD, "LD LDG LDL LDS LDSLK"},
    {ITRACE_KEPLER, SASS_CLASS_STORE, "ST STL STS STSCUL"},
    {ITRACE_KEPLER, SASS_CLASS_BRANCH,
     "BRA BRX JMP JMX CAL JCAL RET BRK CONT SSY PBK PCNT PRET BPT"},
    {ITRACE_MAXWELL, SASS_CLASS_INT,
     "BFE BFI FLO IADD IADD3 ICMP IMAD IMADSP IMNMX IMUL ISCADD ISET ISETP LEA LOP LOP3 POPC SHF "
     "SHL SHR XMAD VADD VMAD VABSDIFF VMNMX VSET VSETP VSHL VSHR"},
    {ITRACE_PASCAL, SASS_CLASS_TEXTURE, "TEX TLD TLD4 TXQ TEXS TLD4S TLDS SULD SUST SURED SUATOM"},
    {ITRACE_PASCAL, SASS_CLASS_BRANCH,
     "BRA BRX JMP JMX SSY SYNC CAL JCAL PRET RET BRK PBK CONT PCNT PEXIT BPT"},
    {ITRACE_PASCAL, SASS_CLASS_ALU,
     "B2R CS2R CSET CSETP DEPBAR F2F F2I I2F I2I LEPC MOV NOP P2R PRMT PSET R2B R2P S2R SEL SHFL "
     "VOTE CCTL CCTLL CCTLT"},
    {ITRACE_VOLTA, SASS_CLASS_SP,
     "FADD FADD32I FCHK FFMA FFMA32I FMNMX FMUL FMUL32I FSEL FSET FSETP "
     "FSWZADD HADD2 HADD2_32I HFMA2 HFMA2_32I HMUL2 HMUL2_32I HSET2 HSETP2"},
    {ITRACE_VOLTA, SASS_CLASS_INT,
     "BMSK BREV FLO IABS IADD IADD3 IADD32I IDP IDP4A IMAD IMNMX IMUL IMUL32I ISCADD ISCADD32I "
     "ISETP LEA LOP LOP3 LOP32I POPC SHF SHR VABSDIFF VABSDIFF4"},
    {ITRACE_VOLTA, SASS_CLASS_ALU,
     "F2F F2I I2F I2I I2IP FRND MOV MOV32I PRMT SEL SGXT SHFL PLOP3 PSETP P2R R2P LDC MATCH QSPC "
     "CCTL CCTLL ERRBAR CCTLT B2R CS2R CSMTEST DEPBAR GETLMEMBASE LEPC NOP PMTRIG R2B S2R SETCTAID "
     "SETLMEMBASE VOTE VOTE_VTG"},
    {ITRACE_VOLTA, SASS_CLASS_BRANCH,
     "BMOV BPT BRA BREAK BRX BSSY BSYNC CALL JMP JMX KILL NANOSLEEP "
     "RET RPCMOV RTT WARPSYNC YIELD"},
    {ITRACE_VOLTA, SASS_CLASS_ATOMIC, "ATOM ATOMS ATOMG RED"},
    {ITRACE_TURING, SASS_CLASS_TENSOR, "HMMA IMMA BMMA"},
    {ITRACE_TURING, SASS_CLASS_UNIFORM,
     "R2UR S2UR UBMSK UBREV UCLEA UFLO UIADD3 UIMAD UISETP ULDC ULEA ULOP ULOP3 ULOP32I UMOV UP2UR "
     "UPLOP3 UPOPC UPRMT UPSETP UR2UP USEL USGXT USHF USHL USHR VOTEU"},
    {ITRACE_TURING, SASS_CLASS_BRANCH, "BRXU JMXU"},
    {ITRACE_AMPERE, SASS_CLASS_ALU, "F2FP F2IP I2FP MOVM"},
    {ITRACE_AMPERE, SASS_CLASS_TENSOR, "HMMA IMMA BMMA DMMA"},
    {ITRACE_AMPERE, SASS_CLASS_LOAD, "LD LDG LDGSTS LDL LDS LDSM"},
    {ITRACE_AMPERE, SASS_CLASS_BARRIER, "BAR LDGDEPBAR ARRIVES"},
    {ITRACE_AMPERE, SASS_CLASS_UNIFORM, "REDUX UF2FP"},
    {ITRACE_ADA, SASS_CLASS_TENSOR, "HMMA IMMA QMMA"},
    {ITRACE_HOPPER, SASS_CLASS_INT, "VIADD VIADDMNMX VIMNMX VIMNMX3 VHMNMX"},
    {ITRACE_HOPPER, SASS_CLASS_TENSOR, "HGMMA IGMMA BGMMA QGMMA DMMA"},
    {ITRACE_HOPPER, SASS_CLASS_TMA,
     "UBLKCP UBLKPF UBLKRED UTMACCTL UTMACMDFLUSH UTMALDG UTMAPF "
     "UTMAREDG UTMASTG"},
    {ITRACE_HOPPER, SASS_CLASS_MEMBAR, "MEMBAR FENCE"},
    {ITRACE_HOPPER, SASS_CLASS_BARRIER, "BAR SYNCS UCGABAR_ARV UCGABAR_WAIT"},
    {ITRACE_HOPPER, SASS_CLASS_BRANCH,
     "ACQBULK ELECT ENDCOLLECTIVE PREEXIT WARPGROUP WARPGROUPSET"},
    {ITRACE_BLACKWELL, SASS_CLASS_SP, "FADD FADD2 FFMA2 FMNMX3 FMUL2"},
    {ITRACE_BLACKWELL, SASS_CLASS_TENSOR,
     "HMMA IMMA DMMA QMMA OMMA UTCHMMA UTCIMMA UTCOMMA UTCQMMA UTCCP UTCSHIFT"},
    {ITRACE_BLACKWELL, SASS_CLASS_LOAD, "LDG LDGSTS LDSM LDT LDTM"},
    {ITRACE_BLACKWELL, SASS_CLASS_STORE, "STG STS STSM STT STTM"},
    {ITRACE_BLACKWELL, SASS_CLASS_BARRIER, "BAR SYNCS UTCBAR ACQSHMINIT UCGABAR_ARV"},
    {ITRACE_BLACKWELL, SASS_CLASS_TMA, "UBLKCP UTMALDG UTMASTG UTMAREDG UTMACMDFLUSH"},
    {ITRACE_BLACKWELL, SASS_CLASS_UNIFORM,
     "CREDUX CS2UR LDCU UFADD UFFMA UFMUL UFSETP UI2F UIABS UIMNMX UTCATOMSWS UVIRTCOUNT"},
};

Test(sass_opcode, every_section_of_the_manual_is_there)
{
    for (size_t i = 0; i < ARRAY_COUNT(lists); i++)
        for (const char *at = lists[i].names; *at;) {
            size_t size = strcspn(at, " ");
            struct sass_opcode opcode;
            cr_expect(sass_opcode_find(lists[i].arch, at, size, &opcode), "%.*s", (int)size, at);
            cr_expect_eq(opcode.unit, lists[i].unit, "%s: %.*s is %s",
                         itrace_arch_name(lists[i].arch), (int)size, at,
                         sass_class_name(opcode.unit));
            at += size + (at[size] == ' ');
        }
}

Test(sass_opcode, unknown_ones_are_unknown)
{
    static const char *const names[] = {"", "F", "FADDX", "FAD", "fadd", "MO", "EXITT"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        struct sass_opcode opcode;
        cr_expect_not(sass_opcode_find(ITRACE_AMPERE, names[i], strlen(names[i]), &opcode), "'%s'",
                      names[i]);
        cr_expect_eq(opcode.unit, SASS_CLASS_UNKNOWN);
    }
}

Test(sass_opcode, architectures_by_binary_version)
{
    static const struct {
        unsigned version;
        enum itrace_arch arch;
    } versions[] = {{0, ITRACE_ARCH_UNKNOWN},  {35, ITRACE_KEPLER},       {52, ITRACE_MAXWELL},
                    {61, ITRACE_PASCAL},       {70, ITRACE_VOLTA},        {75, ITRACE_TURING},
                    {80, ITRACE_AMPERE},       {86, ITRACE_AMPERE},       {89, ITRACE_ADA},
                    {90, ITRACE_HOPPER},       {40, ITRACE_ARCH_UNKNOWN}, {73, ITRACE_ARCH_UNKNOWN},
                    {91, ITRACE_ARCH_UNKNOWN}, {100, ITRACE_BLACKWELL},   {120, ITRACE_BLACKWELL},
                    {122, ITRACE_ARCH_UNKNOWN}};
    for (size_t i = 0; i < ARRAY_COUNT(versions); i++)
        cr_expect_eq(itrace_arch_of(versions[i].version), versions[i].arch, "%u",
                     versions[i].version);
}
