// A kernel whose descriptor has what gfx90a and gfx942 add: a register file with accumulators from a40 of 304 on, and
// arguments 2 to 6, counted in dwords, in registers. Its first 256 bytes are for hardware that does not preload.
	.text
	.globl	taker
	.p2align	8
	.type	taker,@function
taker:
	s_trap 2
	.fill 63, 4, 0xbf800000
	s_endpgm
.Ltaker:
	.size	taker, .Ltaker-taker

	.section	.rodata,"a"
	.p2align	6
	.amdhsa_kernel taker
		.amdhsa_next_free_vgpr 300
		.amdhsa_accum_offset 40
		.amdhsa_next_free_sgpr 20
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_kernarg_preload_length 5
		.amdhsa_user_sgpr_kernarg_preload_offset 2
	.end_amdhsa_kernel

	.amdgpu_metadata
---
amdhsa.version:
  - 1
  - 2
amdhsa.kernels:
  - .name:            taker
    .symbol:          taker.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size:  64
    .sgpr_count:      26
    .vgpr_count:      304
    .agpr_count:      260
    .max_flat_workgroup_size: 256
...
	.end_amdgpu_metadata
