// Function objects, pairs and values in any type's bytes, which CUB's collectives are built of.
#pragma once

#define __KM_CUB __attribute__((device, always_inline))

namespace cub {

struct Sum {
  template <class A, class B> __KM_MEMBER auto operator()(const A &a, const B &b) const -> decltype(a + b) { return a + b; }
};
struct Difference {
  template <class A, class B> __KM_MEMBER auto operator()(const A &a, const B &b) const -> decltype(a - b) { return a - b; }
};
struct Division {
  template <class A, class B> __KM_MEMBER auto operator()(const A &a, const B &b) const -> decltype(a / b) { return a / b; }
};
struct Max {
  template <class T> __KM_MEMBER T operator()(const T &a, const T &b) const { return b > a ? b : a; }
};
struct Min {
  template <class T> __KM_MEMBER T operator()(const T &a, const T &b) const { return b < a ? b : a; }
};
struct Equality {
  template <class A, class B> __KM_MEMBER bool operator()(const A &a, const B &b) const { return a == b; }
};
struct Inequality {
  template <class A, class B> __KM_MEMBER bool operator()(const A &a, const B &b) const { return a != b; }
};

// An index and what is there.
template <class K, class V> struct KeyValuePair {
  typedef K Key;
  typedef V Value;
  K key;
  V value;
  __KM_MEMBER KeyValuePair() {}
  __KM_MEMBER KeyValuePair(const K &key, const V &value) : key(key), value(value) {}
  __KM_MEMBER bool operator!=(const KeyValuePair &other) const { return value != other.value || key != other.key; }
};
// The greater value, or the smaller of its indices.
struct ArgMax {
  template <class K, class V>
  __KM_MEMBER KeyValuePair<K, V> operator()(const KeyValuePair<K, V> &a, const KeyValuePair<K, V> &b) const {
    return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class K, class V>
  __KM_MEMBER KeyValuePair<K, V> operator()(const KeyValuePair<K, V> &a, const KeyValuePair<K, V> &b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};

// A type's bits as unsigned numbers, and these in the order of the type's values: both zeros and all NaNs have places of their own.
template <class T> struct Traits {
  typedef typename __km_bits<sizeof(T)>::type UnsignedBits;
  static __KM_MEMBER UnsignedBits TwiddleIn(UnsignedBits bits) { return bits ^ (bits & high() || !is_float() ? whole() : high()); }
  static __KM_MEMBER UnsignedBits TwiddleOut(UnsignedBits bits) { return bits ^ (bits & high() && is_float() ? high() : whole()); }

 private:
  static constexpr bool is_float() { return !__is_integral(T); }
  static __KM_MEMBER UnsignedBits high() { return (UnsignedBits)((UnsignedBits)1 << (8 * sizeof(T) - 1)); }
  // What turns negative numbers: all bits of floating-point numbers, and the sign of integers that have one.
  static __KM_MEMBER UnsignedBits whole() {
    if (is_float()) return (UnsignedBits)~(UnsignedBits)0;
    return __is_unsigned(T) ? (UnsignedBits)0 : high();
  }
};

template <int Value> struct Int2Type {
  enum { VALUE = Value };
};

// Where a value is kept whose type may have constructors, which shared memory has not.
template <class T> struct Uninitialized {
  alignas(T) unsigned char bytes[sizeof(T)];
  __KM_CUB T &Alias() { return *reinterpret_cast<T *>(bytes); }
};

}  // namespace cub

// A value of any type of another lane, by its words of 32 bits. `how` gives a word of that lane.
template <class T, class How> __KM_D T __km_cub_words(const T &value, How how) {
  unsigned int words[(sizeof(T) + 3) / 4] = {};
  __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
  for (unsigned int &word : words) word = how(word);
  cub::Uninitialized<T> result;
  __builtin_memcpy(result.bytes, words, sizeof(T));
  return result.Alias();
}
template <class T> __KM_D T __km_cub_down(const T &value, unsigned int delta, int width) {
  return __km_cub_words(value, [=] __device__(unsigned int it) { return __shfl_down_sync(__km_mask(0xffffffffu), it, delta, width); });
}
template <class T> __KM_D T __km_cub_up(const T &value, unsigned int delta, int width) {
  return __km_cub_words(value, [=] __device__(unsigned int it) { return __shfl_up_sync(__km_mask(0xffffffffu), it, delta, width); });
}
template <class T> __KM_D T __km_cub_from(const T &value, int lane, int width) {
  return __km_cub_words(value, [=] __device__(unsigned int it) { return __shfl_sync(__km_mask(0xffffffffu), it, lane, width); });
}
// Values stay in the order of their lanes: a combination need not be commutative.
template <class T, class Combine>
__KM_D T __km_cub_reduce(T value, Combine combine, unsigned int lane, unsigned int count, int width) {
#pragma unroll
  for (int distance = 1; distance < width; distance *= 2) {
    T other = __km_cub_down(value, distance, width);
    if (lane + distance < count) value = combine(value, other);
  }
  return value;
}
template <class T, class Combine> __KM_D T __km_cub_scan(T value, Combine combine, unsigned int lane, int width) {
#pragma unroll
  for (int distance = 1; distance < width; distance *= 2) {
    T other = __km_cub_up(value, distance, width);
    if (lane >= (unsigned int)distance) value = combine(other, value);
  }
  return value;
}
