// Arithmetic of HIP's vectors, element by element. It is made of templates, so that a source with operators of its own
// gets these.
#pragma once

template <class V> struct __km_vector { static const int size = 0; };
#define __KM_VECTOR(NAME, T)                                                                       \
  template <> struct __km_vector<NAME##1> { typedef T element; static const int size = 1; };       \
  template <> struct __km_vector<NAME##2> { typedef T element; static const int size = 2; };       \
  template <> struct __km_vector<NAME##3> { typedef T element; static const int size = 3; };       \
  template <> struct __km_vector<NAME##4> { typedef T element; static const int size = 4; };
__KM_VECTOR(char, signed char) __KM_VECTOR(uchar, unsigned char) __KM_VECTOR(short, short)
__KM_VECTOR(ushort, unsigned short) __KM_VECTOR(int, int) __KM_VECTOR(uint, unsigned int)
__KM_VECTOR(long, long) __KM_VECTOR(ulong, unsigned long) __KM_VECTOR(longlong, long long)
__KM_VECTOR(ulonglong, unsigned long long) __KM_VECTOR(float, float) __KM_VECTOR(double, double)
#undef __KM_VECTOR

template <class V> using __km_element_of = typename __km_enable<(__km_vector<V>::size > 0), __km_vector<V>>::type::element;
template <class V> __KM_HD __km_element_of<V> &__km_place(V &vector, int index) {
  return reinterpret_cast<__km_element_of<V> *>(&vector)[index];
}
template <class V> __KM_HD __km_element_of<V> __km_place(const V &vector, int index) {
  return reinterpret_cast<const __km_element_of<V> *>(&vector)[index];
}
#define __KM_OPERATOR(OPERATOR)                                                                    \
  template <class V, class = __km_element_of<V>> __KM_HD V operator OPERATOR(const V &a, const V &b) { \
    V result;                                                                                      \
    for (int i = 0; i < __km_vector<V>::size; ++i)                                                 \
      __km_place(result, i) = __km_place(a, i) OPERATOR __km_place(b, i);                          \
    return result;                                                                                 \
  }                                                                                                \
  template <class V> __KM_HD V operator OPERATOR(const V &a, __km_element_of<V> b) {               \
    V result;                                                                                      \
    for (int i = 0; i < __km_vector<V>::size; ++i)                                                 \
      __km_place(result, i) = __km_place(a, i) OPERATOR b;                                         \
    return result;                                                                                 \
  }                                                                                                \
  template <class V> __KM_HD V operator OPERATOR(__km_element_of<V> a, const V &b) {               \
    V result;                                                                                      \
    for (int i = 0; i < __km_vector<V>::size; ++i)                                                 \
      __km_place(result, i) = a OPERATOR __km_place(b, i);                                         \
    return result;                                                                                 \
  }                                                                                                \
  template <class V, class = __km_element_of<V>> __KM_HD V &operator OPERATOR##=(V &a, const V &b) { \
    for (int i = 0; i < __km_vector<V>::size; ++i)                                                 \
      __km_place(a, i) = __km_place(a, i) OPERATOR __km_place(b, i);                               \
    return a;                                                                                      \
  }                                                                                                \
  template <class V> __KM_HD V &operator OPERATOR##=(V &a, __km_element_of<V> b) {                 \
    for (int i = 0; i < __km_vector<V>::size; ++i)                                                 \
      __km_place(a, i) = __km_place(a, i) OPERATOR b;                                              \
    return a;                                                                                      \
  }
__KM_OPERATOR(+) __KM_OPERATOR(-) __KM_OPERATOR(*) __KM_OPERATOR(/) __KM_OPERATOR(%)
__KM_OPERATOR(&) __KM_OPERATOR(|) __KM_OPERATOR(^)
#undef __KM_OPERATOR
template <class V, class = __km_element_of<V>> __KM_HD V operator-(const V &a) {
  V result;
  for (int i = 0; i < __km_vector<V>::size; ++i) __km_place(result, i) = -__km_place(a, i);
  return result;
}
template <class V, class = __km_element_of<V>> __KM_HD bool operator==(const V &a, const V &b) {
  bool same = true;
  for (int i = 0; i < __km_vector<V>::size; ++i) same = same && __km_place(a, i) == __km_place(b, i);
  return same;
}
template <class V, class = __km_element_of<V>> __KM_HD bool operator!=(const V &a, const V &b) {
  return !(a == b);
}
