// Quotients and remainders by a number that all threads share, in what addresses are computed from. Each kernel writes a word for
// each of `n` threads; `from` is where they count from, and `width`, which is not 0 where it says nothing else, is no more than `n`.

typedef unsigned long long wide;
typedef long long wide_int;

#define KERNEL(name) extern "C" __global__ void name(unsigned *out, const unsigned *in, unsigned n, wide from, wide width)
#define INDEX unsigned i = blockIdx.x * blockDim.x + threadIdx.x
#define OF(TYPE, number) \
    INDEX; \
    if (i >= n) return; \
    TYPE x = (TYPE)(number), by = (TYPE)width, rest = x % by, quotient = x / by; \
    out[i] = in[(rest + by) % by] * 5 + (unsigned)quotient

KERNEL(unsigned_words) { OF(unsigned, from + i); }

KERNEL(signed_words) { OF(int, from + i); }

KERNEL(unsigned_wide) { OF(wide, from + i); }

KERNEL(signed_wide) { OF(wide_int, from + i); }

KERNEL(down_words) { OF(unsigned, from - i); }

KERNEL(down_wide) { OF(wide_int, from - i); }

KERNEL(steps_of_four) { OF(int, from + 4 * i); }

KERNEL(large_steps) { OF(wide, from + (wide)i * 0x60000000); }

// Steps so large that the last lane of 16 is one below the first.
KERNEL(huge_steps) { OF(wide, from + (wide)(i % (unsigned)width) * 0x1111111111111111ull); }

KERNEL(negative) {
    INDEX;
    if (i >= n) return;
    int x = (int)(from + i), line = (int)width + 1, by = ~(int)width, rest = x % by;
    wide_int far = (wide_int)(from + i), behind = far % (wide_int)by;
    // What is added is no multiple of the divisor, whose multiples would be found between lanes here.
    unsigned place = (unsigned)(rest + line) % n;
    wide other = (wide)(behind + line) % n;
    out[i] = in[place] * 5 + in[other] + (unsigned)(x / by) + (unsigned)(far / by);
}

// A remainder of a remainder, whose divisors lie in memory, in a loop: some are 1, and others larger than what they divide.
KERNEL(flipped) {
    INDEX;
    if (i >= n) return;
    __shared__ wide_int sizes[4];
    if (threadIdx.x == 0) {
        sizes[0] = width * 7; sizes[1] = width; sizes[2] = from % 5 + 1; sizes[3] = 1;
    }
    __syncthreads();
    wide_int rest = i, place = 0;
    for (int k = 0; k < 4; k++) {
        wide_int of = rest;
        wide_int at = rest / sizes[k];
        rest = of - at * sizes[k];
        for (int j = 0; j < 2; j++) {
            if (k == (j ? 1 : 3)) at = (k == 1 ? 6 : sizes[2] - 1) - at;
        }
        place += at * sizes[k];
    }
    out[i] = place >= 0 && place < n ? in[place] : (unsigned)place;
}

// In a loop over the grid, whose iterations write.
KERNEL(masked) {
    int rows = (int)(from % 5) + 1, line = (int)width;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (int)n; i += blockDim.x * gridDim.x) {
        int x = i % line, y = (i - x) / line % rows, z = (i - line * y - x) / (rows * line);
        int place = rows * line * z + line * y + x;
        out[place] = x >= (int)(in[y] % 16) ? 7 : in[place];
    }
}

// The same, whose iterations run for the whole block before the next ones: what it divides by is 32 bits wide.
KERNEL(masked_in_turns) {
    int count = (int)n, rows = (int)(from % 5) + 1, line = (int)width;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) {
        int x = i % line, y = i / line % rows;
        out[i] = x >= (int)(in[y] % 16) ? 7 : in[i / line] + in[x];
    }
}

// On both sides of a barrier, and handed on over it.
KERNEL(around_a_barrier) {
    INDEX;
    __shared__ unsigned row[256];
    unsigned line = (unsigned)width, x = i % line, y = i / line, own = threadIdx.x;
    row[own] = i < n ? in[x] + in[y] : 0;
    __syncthreads();
    unsigned other = row[(own + 1) % blockDim.x];
    if (i < n) out[i] = other + in[y] * 3 + in[(i + (unsigned)from) % line];
}

// Extensions of what wraps between two threads.
KERNEL(extended) {
    INDEX;
    if (i >= n) return;
    unsigned moved = (unsigned)from + i % (unsigned)width;
    wide_int place = ((wide_int)(int)moved + (1ll << 31)) % n;
    wide other = (wide)moved % n;
    out[i] = in[place] * 3 + in[other] + (unsigned)(place >> 5);
}

// The same before the division, from another number in each iteration.
KERNEL(extended_before) {
    INDEX;
    if (i >= n) return;
    unsigned sum = 0, moved = (unsigned)from;
    for (unsigned k = 0; k < 3; k++) {
        sum += in[(wide)(moved + i) % width];
        moved = moved * 3 + in[k];
    }
    out[i] = sum;
}

// Backwards up to the buffer's first element, behind which the threads that read nothing would be.
KERNEL(to_the_first) {
    INDEX;
    if (i >= n) return;
    unsigned x = i % (unsigned)width, most = n / 4, value = 1;
    if (x <= most) value = in[most - x];
    out[i] = value;
}

// Only a part of a number of 64 bits.
KERNEL(narrowed) {
    INDEX;
    if (i >= n) return;
    unsigned place = (unsigned)((from + i) / width) % n;
    out[i] = in[place] + in[(unsigned)((from + i) % width)];
}

// What is chosen by a uniform condition, and shifted.
KERNEL(chosen) {
    INDEX;
    if (i >= n) return;
    unsigned x = i % (unsigned)width, y = i / (unsigned)width;
    unsigned place = (from % 2 ? x : y) << 1;
    out[i] = place < n ? in[place] : 3;
}

// Nobody divides by zero, and some divide by something.
KERNEL(not_by_zero) {
    INDEX;
    if (i >= n) return;
    unsigned by = (unsigned)from, value = 1;
    if (by) value = in[i % by % n];
    if (in[i] % 3) value += in[i % (unsigned)width];
    if (by && in[i] % 2) value += in[i / by] + in[(int)i % (int)by % (int)n];
    out[i] = value;
}

// Memory that is not there where no thread of a vector reads it.
KERNEL(nowhere) {
    INDEX;
    if (i >= n) return;
    unsigned y = i / (unsigned)width, x = i % (unsigned)width;
    const unsigned *some = in[y] % 2 ? in : (const unsigned *)(wide)(4 * y);
    unsigned value = 1;
    if (in[y] % 2) value = some[y] * 3 + some[x];
    out[i] = value;
}

// Where rows are written, and elements of which each is another thread's.
KERNEL(written) {
    INDEX;
    unsigned line = (unsigned)width, rows = n / line;
    if (i >= rows * line) return;
    unsigned x = i % line, y = i / line;
    out[from % 3 == 0 ? i : from % 3 == 1 ? (rows - 1 - y) * line + line - 1 - x : x * rows + y] = in[i] + x;
}

// Bytes, and numbers of 64 bits.
KERNEL(of_all_sizes) {
    INDEX;
    if (i >= n) return;
    unsigned x = i % (unsigned)width;
    unsigned sum = ((const unsigned char *)in)[x] + ((const unsigned short *)in)[x] * 3;
    if (width % 2 == 0) sum += (unsigned)(((const wide *)in)[x / 2] >> 9);
    out[i] = sum;
}

// Memory of each thread, whose elements lie lane by lane.
KERNEL(own) {
    INDEX;
    if (i >= n) return;
    unsigned elements[9];
    for (unsigned k = 0; k < 9; k++) elements[k] = in[k % n] + i;
    unsigned line = (unsigned)width + 48;
    elements[i / line] += in[i % (unsigned)width];
    for (unsigned k = 0; k < from; k++) elements[i / line + 1] += elements[i / line] * 3 + k;
    out[i] = elements[i / line] + elements[(unsigned)(from + 3) % 8];
}

// Threads stay in the loop for as long as they like, so that none of it is affine.
KERNEL(by_threads) {
    INDEX;
    if (i >= n) return;
    unsigned x = i + (unsigned)from % 7, sum = 0;
    for (unsigned k = 0; k < in[i] % 4; k++) {
        sum += in[x % n];
        x = x / (unsigned)width + k;
    }
    out[i] = sum;
}

// Nor is what threads come to by two ways, or what is divided by a number of each thread.
KERNEL(of_two_ways) {
    INDEX;
    if (i >= n) return;
    unsigned x = in[i] % 3 ? i / (unsigned)width : i * 3;
    if (in[i] % 5 == 0) { out[i] = in[x % n]; x += 2; }
    out[i] = in[i % (in[i] % 7 + 1)] + x;
}

// What comes before the division has been done once.
KERNEL(after_effects) {
    INDEX;
    if (i >= n) return;
    atomicAdd(&out[n], 1);
    unsigned value = in[i % (unsigned)width];
    out[i] = value;
}
