// In place of the toolkit's header: sums, or other combinations, of what the threads of a tile or of a group of threads that
// run together have, up to each of them in the order of their ranks.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

// With the thread's own value.
template <class Group, class T, class Combine>
__KM_D T inclusive_scan(const Group &group, T value, Combine combine) {
  unsigned int rank = group.thread_rank();
  for (unsigned int distance = 1; distance < group.num_threads(); distance *= 2) {
    T before = group.shfl_up(value, distance);
    if (rank >= distance) value = combine(before, value);
  }
  return value;
}
template <class Group, class T> __KM_D T inclusive_scan(const Group &group, T value) {
  return inclusive_scan(group, value, plus<T>());
}
// Without it: the first thread has zero.
template <class Group, class T, class Combine>
__KM_D T exclusive_scan(const Group &group, T value, Combine combine) {
  T before = group.shfl_up(inclusive_scan(group, value, combine), 1);
  return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T> __KM_D T exclusive_scan(const Group &group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups
