// char1 to double4 and dim3.
#pragma once

struct char1 { signed char x; };
__KM_HD char1 make_char1(signed char x) { return char1{x}; }
struct __attribute__((aligned(2))) char2 { signed char x, y; };
__KM_HD char2 make_char2(signed char x, signed char y) { return char2{x, y}; }
struct char3 { signed char x, y, z; };
__KM_HD char3 make_char3(signed char x, signed char y, signed char z) { return char3{x, y, z}; }
struct __attribute__((aligned(4))) char4 { signed char x, y, z, w; };
__KM_HD char4 make_char4(signed char x, signed char y, signed char z, signed char w) { return char4{x, y, z, w}; }
struct uchar1 { unsigned char x; };
__KM_HD uchar1 make_uchar1(unsigned char x) { return uchar1{x}; }
struct __attribute__((aligned(2))) uchar2 { unsigned char x, y; };
__KM_HD uchar2 make_uchar2(unsigned char x, unsigned char y) { return uchar2{x, y}; }
struct uchar3 { unsigned char x, y, z; };
__KM_HD uchar3 make_uchar3(unsigned char x, unsigned char y, unsigned char z) { return uchar3{x, y, z}; }
struct __attribute__((aligned(4))) uchar4 { unsigned char x, y, z, w; };
__KM_HD uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w) { return uchar4{x, y, z, w}; }
struct short1 { short x; };
__KM_HD short1 make_short1(short x) { return short1{x}; }
struct __attribute__((aligned(4))) short2 { short x, y; };
__KM_HD short2 make_short2(short x, short y) { return short2{x, y}; }
struct short3 { short x, y, z; };
__KM_HD short3 make_short3(short x, short y, short z) { return short3{x, y, z}; }
struct __attribute__((aligned(8))) short4 { short x, y, z, w; };
__KM_HD short4 make_short4(short x, short y, short z, short w) { return short4{x, y, z, w}; }
struct ushort1 { unsigned short x; };
__KM_HD ushort1 make_ushort1(unsigned short x) { return ushort1{x}; }
struct __attribute__((aligned(4))) ushort2 { unsigned short x, y; };
__KM_HD ushort2 make_ushort2(unsigned short x, unsigned short y) { return ushort2{x, y}; }
struct ushort3 { unsigned short x, y, z; };
__KM_HD ushort3 make_ushort3(unsigned short x, unsigned short y, unsigned short z) { return ushort3{x, y, z}; }
struct __attribute__((aligned(8))) ushort4 { unsigned short x, y, z, w; };
__KM_HD ushort4 make_ushort4(unsigned short x, unsigned short y, unsigned short z, unsigned short w) { return ushort4{x, y, z, w}; }
struct int1 { int x; };
__KM_HD int1 make_int1(int x) { return int1{x}; }
struct __attribute__((aligned(8))) int2 { int x, y; };
__KM_HD int2 make_int2(int x, int y) { return int2{x, y}; }
struct int3 { int x, y, z; };
__KM_HD int3 make_int3(int x, int y, int z) { return int3{x, y, z}; }
struct __attribute__((aligned(16))) int4 { int x, y, z, w; };
__KM_HD int4 make_int4(int x, int y, int z, int w) { return int4{x, y, z, w}; }
struct uint1 { unsigned int x; };
__KM_HD uint1 make_uint1(unsigned int x) { return uint1{x}; }
struct __attribute__((aligned(8))) uint2 { unsigned int x, y; };
__KM_HD uint2 make_uint2(unsigned int x, unsigned int y) { return uint2{x, y}; }
struct uint3 { unsigned int x, y, z; };
__KM_HD uint3 make_uint3(unsigned int x, unsigned int y, unsigned int z) { return uint3{x, y, z}; }
struct __attribute__((aligned(16))) uint4 { unsigned int x, y, z, w; };
__KM_HD uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z, unsigned int w) { return uint4{x, y, z, w}; }
struct long1 { long x; };
__KM_HD long1 make_long1(long x) { return long1{x}; }
struct __attribute__((aligned(16))) long2 { long x, y; };
__KM_HD long2 make_long2(long x, long y) { return long2{x, y}; }
struct long3 { long x, y, z; };
__KM_HD long3 make_long3(long x, long y, long z) { return long3{x, y, z}; }
struct __attribute__((aligned(16))) long4 { long x, y, z, w; };
__KM_HD long4 make_long4(long x, long y, long z, long w) { return long4{x, y, z, w}; }
struct ulong1 { unsigned long x; };
__KM_HD ulong1 make_ulong1(unsigned long x) { return ulong1{x}; }
struct __attribute__((aligned(16))) ulong2 { unsigned long x, y; };
__KM_HD ulong2 make_ulong2(unsigned long x, unsigned long y) { return ulong2{x, y}; }
struct ulong3 { unsigned long x, y, z; };
__KM_HD ulong3 make_ulong3(unsigned long x, unsigned long y, unsigned long z) { return ulong3{x, y, z}; }
struct __attribute__((aligned(16))) ulong4 { unsigned long x, y, z, w; };
__KM_HD ulong4 make_ulong4(unsigned long x, unsigned long y, unsigned long z, unsigned long w) { return ulong4{x, y, z, w}; }
struct longlong1 { long long x; };
__KM_HD longlong1 make_longlong1(long long x) { return longlong1{x}; }
struct __attribute__((aligned(16))) longlong2 { long long x, y; };
__KM_HD longlong2 make_longlong2(long long x, long long y) { return longlong2{x, y}; }
struct longlong3 { long long x, y, z; };
__KM_HD longlong3 make_longlong3(long long x, long long y, long long z) { return longlong3{x, y, z}; }
struct __attribute__((aligned(16))) longlong4 { long long x, y, z, w; };
__KM_HD longlong4 make_longlong4(long long x, long long y, long long z, long long w) { return longlong4{x, y, z, w}; }
struct ulonglong1 { unsigned long long x; };
__KM_HD ulonglong1 make_ulonglong1(unsigned long long x) { return ulonglong1{x}; }
struct __attribute__((aligned(16))) ulonglong2 { unsigned long long x, y; };
__KM_HD ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return ulonglong2{x, y}; }
struct ulonglong3 { unsigned long long x, y, z; };
__KM_HD ulonglong3 make_ulonglong3(unsigned long long x, unsigned long long y, unsigned long long z) { return ulonglong3{x, y, z}; }
struct __attribute__((aligned(16))) ulonglong4 { unsigned long long x, y, z, w; };
__KM_HD ulonglong4 make_ulonglong4(unsigned long long x, unsigned long long y, unsigned long long z, unsigned long long w) { return ulonglong4{x, y, z, w}; }
struct float1 { float x; };
__KM_HD float1 make_float1(float x) { return float1{x}; }
struct __attribute__((aligned(8))) float2 { float x, y; };
__KM_HD float2 make_float2(float x, float y) { return float2{x, y}; }
struct float3 { float x, y, z; };
__KM_HD float3 make_float3(float x, float y, float z) { return float3{x, y, z}; }
struct __attribute__((aligned(16))) float4 { float x, y, z, w; };
__KM_HD float4 make_float4(float x, float y, float z, float w) { return float4{x, y, z, w}; }
struct double1 { double x; };
__KM_HD double1 make_double1(double x) { return double1{x}; }
struct __attribute__((aligned(16))) double2 { double x, y; };
__KM_HD double2 make_double2(double x, double y) { return double2{x, y}; }
struct double3 { double x, y, z; };
__KM_HD double3 make_double3(double x, double y, double z) { return double3{x, y, z}; }
struct __attribute__((aligned(16))) double4 { double x, y, z, w; };
__KM_HD double4 make_double4(double x, double y, double z, double w) { return double4{x, y, z, w}; }

struct dim3 {
  unsigned int x, y, z;
  constexpr __KM_MEMBER dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1)
      : x(x), y(y), z(z) {}
  constexpr __KM_MEMBER dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr __KM_MEMBER operator uint3() const { return uint3{x, y, z}; }
};
