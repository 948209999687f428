// A kernel that does nothing, for any target.
	.text
	.globl	empty
	.p2align	8
	.type	empty,@function
empty:
	s_endpgm
.Lempty:
	.size	empty, .Lempty-empty
	.section	.rodata,"a"
	.p2align	6
	.amdhsa_kernel empty
		.amdhsa_next_free_vgpr 4
		.amdhsa_next_free_sgpr 8
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.version:
  - 1
  - 2
amdhsa.kernels:
  - .name:            empty
    .symbol:          empty.kd
    .kernarg_segment_size: 0
    .kernarg_segment_align: 4
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size:  64
    .sgpr_count:      8
    .vgpr_count:      4
    .max_flat_workgroup_size: 256
...
	.end_amdgpu_metadata
