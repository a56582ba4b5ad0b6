// Functions that clang has built in for AMD's processors, by LLVM's name of the instruction. On other targets a kernel
// that uses one is refused, with its name.
#pragma once

#define __KM_AMD(RESULT, NAME, LLVM, ...)                                                          \
  extern "C" __attribute__((device, convergent, nothrow)) RESULT __builtin_amdgcn_##NAME(          \
      __VA_ARGS__) __asm("llvm.amdgcn." LLVM);
typedef _Float16 __km_half2 __attribute__((ext_vector_type(2)));
typedef _Float16 __km_half4 __attribute__((ext_vector_type(4)));
typedef float __km_float4 __attribute__((ext_vector_type(4)));
typedef float __km_float16 __attribute__((ext_vector_type(16)));
typedef float __km_float32 __attribute__((ext_vector_type(32)));

// Threads and lanes.
__KM_AMD(unsigned int, workitem_id_x, "workitem.id.x")
__KM_AMD(unsigned int, workitem_id_y, "workitem.id.y")
__KM_AMD(unsigned int, workitem_id_z, "workitem.id.z")
__KM_AMD(unsigned int, workgroup_id_x, "workgroup.id.x")
__KM_AMD(unsigned int, workgroup_id_y, "workgroup.id.y")
__KM_AMD(unsigned int, workgroup_id_z, "workgroup.id.z")
__KM_AMD(unsigned int, wavefrontsize, "wavefrontsize")
__KM_AMD(unsigned int, mbcnt_lo, "mbcnt.lo", unsigned int, unsigned int)
__KM_AMD(unsigned int, mbcnt_hi, "mbcnt.hi", unsigned int, unsigned int)
__KM_AMD(unsigned int, ballot_w32, "ballot.i32", bool)
__KM_AMD(unsigned long long, ballot_w64, "ballot.i64", bool)
__KM_AMD(int, ds_bpermute, "ds.bpermute", int, int)
__KM_AMD(int, ds_permute, "ds.permute", int, int)
__KM_AMD(int, ds_swizzle, "ds.swizzle", int, int)
__KM_AMD(int, readfirstlane, "readfirstlane.i32", int)
__KM_AMD(int, readlane, "readlane.i32", int, int)
__KM_AMD(int, mov_dpp, "mov.dpp.i32", int, int, int, int, bool)
__KM_AMD(int, update_dpp, "update.dpp.i32", int, int, int, int, int, bool)
// Waiting, and time.
__KM_AMD(void, s_barrier, "s.barrier")
__KM_AMD(void, wave_barrier, "wave.barrier")
__KM_AMD(void, s_sleep, "s.sleep", int)
__KM_AMD(void, s_waitcnt, "s.waitcnt", int)
__KM_AMD(void, sched_barrier, "sched.barrier", int)
__KM_AMD(unsigned long long, s_memtime, "s.memtime")
__KM_AMD(unsigned long long, s_memrealtime, "s.memrealtime")
#define __builtin_amdgcn_fence(order, ...) __atomic_thread_fence(order)
// Numbers.
__KM_AMD(float, rcpf, "rcp.f32", float)
__KM_AMD(double, rcp, "rcp.f64", double)
__KM_AMD(float, rsqf, "rsq.f32", float)
__KM_AMD(double, rsq, "rsq.f64", double)
__KM_AMD(float, fractf, "fract.f32", float)
__KM_AMD(float, sinf, "sin.f32", float)
__KM_AMD(float, cosf, "cos.f32", float)
__KM_AMD(float, exp2f, "exp2.f32", float)
__KM_AMD(float, logf, "log.f32", float)
__KM_AMD(float, fmed3f, "fmed3.f32", float, float, float)
__KM_AMD(unsigned int, ubfe, "ubfe.i32", unsigned int, unsigned int, unsigned int)
__KM_AMD(int, sbfe, "sbfe.i32", int, unsigned int, unsigned int)
__KM_AMD(unsigned int, perm, "perm", unsigned int, unsigned int, unsigned int)
__KM_AMD(unsigned int, sad_u8, "sad.u8", unsigned int, unsigned int, unsigned int)
__KM_AMD(unsigned int, alignbyte, "alignbyte", unsigned int, unsigned int, unsigned int)
__KM_AMD(int, sdot4, "sdot4", int, int, int, bool)
__KM_AMD(unsigned int, udot4, "udot4", unsigned int, unsigned int, unsigned int, bool)
__KM_AMD(int, sudot4, "sudot4", bool, int, bool, int, int, bool)
__KM_AMD(int, sdot8, "sdot8", int, int, int, bool)
__KM_AMD(unsigned int, udot8, "udot8", unsigned int, unsigned int, unsigned int, bool)
__KM_AMD(float, fdot2, "fdot2", __km_half2, __km_half2, float, bool)
// Products of matrices in the registers of a wavefront.
__KM_AMD(__km_float32, mfma_f32_32x32x1f32, "mfma.f32.32x32x1f32", float, float, __km_float32, int, int, int)
__KM_AMD(__km_float16, mfma_f32_16x16x1f32, "mfma.f32.16x16x1f32", float, float, __km_float16, int, int, int)
__KM_AMD(__km_float4, mfma_f32_4x4x1f32, "mfma.f32.4x4x1f32", float, float, __km_float4, int, int, int)
__KM_AMD(__km_float16, mfma_f32_32x32x2f32, "mfma.f32.32x32x2f32", float, float, __km_float16, int, int, int)
__KM_AMD(__km_float4, mfma_f32_16x16x4f32, "mfma.f32.16x16x4f32", float, float, __km_float4, int, int, int)
__KM_AMD(__km_float16, mfma_f32_32x32x8f16, "mfma.f32.32x32x8f16", __km_half4, __km_half4, __km_float16, int, int, int)
__KM_AMD(__km_float4, mfma_f32_16x16x16f16, "mfma.f32.16x16x16f16", __km_half4, __km_half4, __km_float4, int, int, int)
#undef __KM_AMD
