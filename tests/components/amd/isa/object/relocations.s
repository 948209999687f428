// A code object with relocations that a loader must apply: a pointer to a variable, and to a kernel.
	.text
	.globl	nothing
	.p2align	8
	.type	nothing,@function
nothing:
	s_endpgm
.Lend:
	.size	nothing, .Lend-nothing

	.section	.rodata,"a"
	.p2align	6
	.amdhsa_kernel nothing
		.amdhsa_next_free_vgpr 9
		.amdhsa_next_free_sgpr 20
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_group_segment_fixed_size 512
		.amdhsa_private_segment_fixed_size 24
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel

	.data
	.globl	value
	.p2align	3
	.type	value,@object
value:
	.quad	0x1122334455667788
	.size	value, 8

	.globl	pointer
	.p2align	3
	.type	pointer,@object
pointer:
	.quad	value+4
	.quad	nothing
	.size	pointer, 16

	.amdgpu_metadata
---
amdhsa.version:
  - 1
  - 1
amdhsa.target: amdgcn-amd-amdhsa--gfx803
amdhsa.kernels:
  - .name:            nothing
    .symbol:          nothing.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 16
    .group_segment_fixed_size: 512
    .private_segment_fixed_size: 24
    .wavefront_size:  64
    .sgpr_count:      26
    .vgpr_count:      9
    .max_flat_workgroup_size: 256
    .args:
      - .size:            8
        .offset:          0
        .value_kind:      global_buffer
...
	.end_amdgpu_metadata
