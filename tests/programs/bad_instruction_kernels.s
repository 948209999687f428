// Two kernels of one pointer. `works` stores 7 in its lane's element. `lacks` would store 9, but reaches ds_read_b32 of
// the global data share, and no GPU here has one; with COMPUTED_JUMP (bad_jump_kernels.hsaco) it jumps to
// an address that it computes, where bytes are that are no instruction.
	.text
	.globl	works
	.p2align	8
	.type	works,@function
works:
	v_mov_b32_e32 v1, 7
	s_branch store
.Lworks:
	.size	works, .Lworks-works

	.globl	lacks
	.p2align	8
	.type	lacks,@function
lacks:
.ifdef COMPUTED_JUMP
	s_getpc_b64 s[2:3]
	s_add_u32 s2, s2, 16 // behind these four instructions; no reader of the code sees where
	s_addc_u32 s3, s3, 0
	s_setpc_b64 s[2:3]
	.long 0xffffffff
	.long 0xffffffff
.else
	s_cmp_eq_u32 s0, 0x12345
	s_cbranch_scc1 rare
	v_mov_b32_e32 v1, 9
	s_branch store
rare:
	ds_read_b32 v0, v0 gds
.endif
	s_endpgm
.Llacks:
	.size	lacks, .Llacks-lacks

store:
	s_load_dwordx2 s[0:1], s[0:1], 0x0
	v_lshlrev_b32_e32 v0, 2, v0
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v3, s1
	v_add_u32_e32 v2, vcc, s0, v0
	v_addc_u32_e32 v3, vcc, 0, v3, vcc
	flat_store_dword v[2:3], v1
	s_endpgm

	.section	.rodata,"a"
	.p2align	6
	.amdhsa_kernel works
		.amdhsa_next_free_vgpr 4
		.amdhsa_next_free_sgpr 8
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
	.end_amdhsa_kernel
	.p2align	6
	.amdhsa_kernel lacks
		.amdhsa_next_free_vgpr 4
		.amdhsa_next_free_sgpr 8
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
	.end_amdhsa_kernel

	.amdgpu_metadata
---
amdhsa.version:
  - 1
  - 1
amdhsa.target: amdgcn-amd-amdhsa--gfx803
amdhsa.kernels:
  - .name:            works
    .symbol:          works.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size:  64
    .sgpr_count:      16
    .vgpr_count:      4
    .max_flat_workgroup_size: 64
    .args:
      - .size:            8
        .offset:          0
        .value_kind:      global_buffer
  - .name:            lacks
    .symbol:          lacks.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size:  64
    .sgpr_count:      16
    .vgpr_count:      4
    .max_flat_workgroup_size: 64
    .args:
      - .size:            8
        .offset:          0
        .value_kind:      global_buffer
...
	.end_amdgpu_metadata
