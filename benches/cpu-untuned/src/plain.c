// The same as plain loops, on as many threads as OpenMP takes.
#include <stddef.h>
#include <math.h>

#define EACH _Pragma("omp parallel for")

static int least(int a, int b) { return a < b ? a : b; }
static int most(int a, int b) { return a > b ? a : b; }

void c_column_products(float *out, const float *in, int columns, int rows) {
#pragma omp parallel for schedule(dynamic, 8)
    for (int own = 0; own < columns; own++)
        for (int other = own; other < columns; other++) {
            float sum = 0;
            for (int row = 0; row < rows; row++) sum += in[row * columns + own] * in[row * columns + other];
            out[own * columns + other] = sum;
            out[other * columns + own] = sum;
        }
}

void c_row_sums(float *out, const float *in, int columns, int rows) {
    EACH for (int row = 0; row < rows; row++) {
        float sum = 0;
        for (int column = 0; column < columns; column++) sum += in[row * columns + column];
        out[row] = sum;
    }
}

void c_column_sums(float *out, const float *in, int columns, int rows) {
    EACH for (int column = 0; column < columns; column++) {
        float sum = 0;
        for (int row = 0; row < rows; row++) sum += in[row * columns + column];
        out[column] = sum;
    }
}

void c_transpose(float *out, const float *in, int columns, int rows) {
    EACH for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++) out[column * rows + row] = in[row * columns + column];
}

void c_eliminate(float *out, const float *in, const float *factors, int columns, int rows) {
    EACH for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++)
            out[row * columns + column] = in[row * columns + column] - factors[row] * in[column];
}

void c_matrix_product(float *out, const float *a, const float *b, int columns, int rows, int depth) {
    EACH for (int row = 0; row < rows; row++) {
        for (int column = 0; column < columns; column++) out[row * columns + column] = 0;
        for (int k = 0; k < depth; k++)
            for (int column = 0; column < columns; column++)
                out[row * columns + column] += a[row * depth + k] * b[k * columns + column];
    }
}

void c_filter_rows(float *out, const float *in, const float *weights, int columns, int rows, int reach) {
    EACH for (int row = 0; row < rows; row++)
        for (int column = reach; column < columns - reach; column++) {
            float sum = 0;
            for (int k = -reach; k <= reach; k++) sum += weights[k + reach] * in[row * columns + column + k];
            out[row * columns + column] = sum;
        }
}

void c_heat_tile(float *out, const float *in, int width, int height, float rate) {
    EACH for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int left = most(x - 1, 0), right = least(x + 1, width - 1);
            int above = most(y - 1, 0), below = least(y + 1, height - 1);
            float own = in[y * width + x];
            float sides = in[y * width + left] + in[y * width + right];
            float ends = in[above * width + x] + in[below * width + x];
            out[y * width + x] = own + rate * (sides + ends - 4 * own);
        }
}

void c_blur(float *out, const float *in, int width, int height) {
    EACH for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            float sum = 0;
            for (int dy = -2; dy <= 2; dy++)
                for (int dx = -2; dx <= 2; dx++)
                    sum += in[least(most(y + dy, 0), height - 1) * width + least(most(x + dx, 0), width - 1)];
            out[y * width + x] = sum / 25;
        }
}

void c_torus(float *out, const float *in, int width, int height) {
    EACH for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int right = (x + 1) % width, left = (x + width - 1) % width;
            int below = (y + 1) % height, above = (y + height - 1) % height;
            out[y * width + x] = in[y * width + left] + in[y * width + right] + in[above * width + x] + in[below * width + x];
        }
}

void c_erode_column(unsigned char *out, const unsigned char *in, int width, int height, int reach) {
    EACH for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) out[y * width + x] = in[y * width + x];
        for (int below = y + 1; below < least(y + reach, height); below++)
            for (int x = 0; x < width; x++) {
                unsigned char own = out[y * width + x], other = in[below * width + x];
                out[y * width + x] = own < other ? own : other;
            }
    }
}

void c_highest_below(float *out, const float *in, int width, int height, int reach) {
    EACH for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) out[y * width + x] = in[y * width + x];
        for (int below = y + 1; below < least(y + reach, height); below++)
            for (int x = 0; x < width; x++) {
                float own = out[y * width + x], other = in[below * width + x];
                out[y * width + x] = own > other ? own : other;
            }
    }
}

void c_cheapest(int *out, const int *before, const int *costs, int n) {
    EACH for (int x = 0; x < n; x++) {
        int left = x > 0 ? before[x - 1] : before[x], right = x < n - 1 ? before[x + 1] : before[x];
        out[x] = costs[x] + least(before[x], least(left, right));
    }
}

struct point { float x, y, z; };
struct four { float x, y, z, w; };
struct two { float x, y; };

void c_lengths(float *out, const struct point *in, int n) {
    EACH for (int i = 0; i < n; i++) out[i] = sqrtf(in[i].x * in[i].x + in[i].y * in[i].y + in[i].z * in[i].z);
}

void c_energies(float *out, const struct four *in, int n) {
    EACH for (int i = 0; i < n; i++)
        out[i] = 0.5f * in[i].w * (in[i].x * in[i].x + in[i].y * in[i].y + in[i].z * in[i].z);
}

void c_gray(unsigned char *out, const unsigned char *in, int n) {
    EACH for (int i = 0; i < n; i++) out[i] = (77 * in[3 * i] + 150 * in[3 * i + 1] + 29 * in[3 * i + 2]) >> 8;
}

void c_complex_products(struct two *out, const struct two *a, const struct two *b, int n) {
    EACH for (int i = 0; i < n; i++) {
        struct two p = a[i], q = b[i];
        out[i] = (struct two){p.x * q.x - p.y * q.y, p.x * q.y + p.y * q.x};
    }
}

void c_attractions(struct four *out, const struct four *in, int n) {
    EACH for (int i = 0; i < n; i++) {
        struct four own = in[i];
        float x = 0, y = 0, z = 0;
        for (int j = 0; j < n; j++) {
            float dx = in[j].x - own.x, dy = in[j].y - own.y, dz = in[j].z - own.z;
            float inverse = 1 / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float strength = in[j].w * inverse * inverse * inverse;
            x += dx * strength; y += dy * strength; z += dz * strength;
        }
        out[i] = (struct four){x, y, z, 0};
    }
}

void c_sparse_product(float *out, const int *starts, const int *columns, const float *values, const float *x, int n) {
    EACH for (int row = 0; row < n; row++) {
        float sum = 0;
        for (int k = starts[row]; k < starts[row + 1]; k++) sum += values[k] * x[columns[k]];
        out[row] = sum;
    }
}

void c_reach(char *next, const int *starts, const int *targets, const char *marked, const char *seen, int n) {
    EACH for (int node = 0; node < n; node++)
        if (marked[node])
            for (int k = starts[node]; k < starts[node + 1]; k++)
                if (!seen[targets[k]]) next[targets[k]] = 1;
}

void c_search(int *out, const int *keys, const int *wanted, int n, int count) {
    EACH for (int i = 0; i < count; i++) {
        int low = 0, high = n;
        while (low < high) {
            int middle = low + (high - low) / 2;
            if (keys[middle] < wanted[i]) low = middle + 1; else high = middle;
        }
        out[i] = low;
    }
}

void c_exchange(int *x, int distance, int direction, int n) {
    EACH for (int i = 0; i < n; i++) {
        int j = i ^ distance;
        if (j <= i) continue;
        int a = x[i], b = x[j], up = (i & direction) == 0;
        if (up ? a > b : a < b) { x[i] = b; x[j] = a; }
    }
}

void c_block_scan(int *out, const int *in, int n) {
    EACH for (int start = 0; start < n; start += 256) {
        int sum = 0;
        for (int i = start; i < least(start + 256, n); i++) out[i] = sum += in[i];
    }
}

static void multiply(const float *a, const float *b, float *out) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            float sum = 0;
            for (int k = 0; k < 4; k++) sum += a[i + 4 * k] * b[k + 4 * j];
            out[i + 4 * j] = sum;
        }
}

void c_matrix_powers(float *out, const float *x, int steps, int n) {
    EACH for (int i = 0; i < n; i++) {
        float base[16], power[16], next[16];
        for (int k = 0; k < 16; k++) base[k] = power[k] = x[16 * i + k];
        for (int step = 0; step < steps; step++) {
            multiply(base, power, next);
            for (int k = 0; k < 16; k++) power[k] = 0.5f * next[k];
        }
        for (int k = 0; k < 16; k++) out[16 * i + k] = power[k];
    }
}

void c_medians(float *out, const float *x, int width, int height) {
    EACH for (int row = 2; row < height - 2; row++)
        for (int column = 2; column < width - 2; column++) {
            float window[25];
            for (int dy = 0; dy < 5; dy++)
                for (int dx = 0; dx < 5; dx++) window[5 * dy + dx] = x[(row + dy - 2) * width + column + dx - 2];
            for (int i = 0; i < 13; i++)
                for (int j = i + 1; j < 25; j++)
                    if (window[j] < window[i]) {
                        float lower = window[j];
                        window[j] = window[i];
                        window[i] = lower;
                    }
            out[row * width + column] = window[12];
        }
}

void c_own_histogram(int *out, const int *x, int each, int n) {
    EACH for (int i = 0; i < n; i++) {
        int counts[16] = {0};
        for (int k = 0; k < each; k++) counts[x[k * n + i] & 15]++;
        for (int k = 0; k < 16; k++) out[k * n + i] = counts[k];
    }
}

void c_differences(float *out, const float *x, int order, int steps, int n) {
    EACH for (int i = 0; i < n; i++) {
        float terms[12] = {0};
        for (int k = 0; k <= order; k++) terms[k] = x[k * n + i];
        for (int step = 0; step < steps; step++)
            for (int k = 0; k < order; k++) terms[k] = 0.75f * terms[k] + 0.25f * terms[k + 1];
        out[i] = terms[0];
    }
}

void c_roughness(float *sums, const float *x, int width, int height) {
    int across = (width + 15) / 16, down = (height + 15) / 16;
    EACH for (int tile = 0; tile < across * down; tile++) {
        int left = tile % across * 16, top = tile / across * 16;
        float sum = 0;
        for (int j = top; j < least(height, top + 16); j++)
            for (int i = left; i < least(width, left + 16); i++) {
                float sides = x[j * width + most(i - 1, 0)] + x[j * width + least(i + 1, width - 1)];
                float ends = x[most(j - 1, 0) * width + i] + x[least(j + 1, height - 1) * width + i];
                float apart = x[j * width + i] - 0.25f * (sides + ends);
                sum += apart * apart;
            }
        sums[tile] = sum;
    }
}

void c_tiles_turned(float *out, const float *x, int width, int height) {
    EACH for (int j = 0; j < height; j++) {
        int top = j / 16 * 16, from = top + least(16, height - top) - 1 - (j - top);
        for (int i = 0; i < width; i++) out[j * width + i] = x[from * width + i];
    }
}

void c_passed_on(float *out, const float *x, int n) {
    EACH for (int start = 0; start < n; start += 512) {
        out[start] = 0;
        for (int i = start + 1; i < least(n, start + 512); i++) out[i] = x[i - 1];
    }
}

void c_turned(float *out, const float *x, size_t columns, size_t rows) {
    EACH for (size_t i = 0; i < columns * rows; i++) {
        size_t column = i / rows, row = rows - 1 - i % rows;
        out[i] = x[row * columns + column];
    }
}

void c_backwards(float *out, const float *x, size_t depth, size_t height, size_t width) {
    EACH for (size_t k = 0; k < depth; k++)
        for (size_t j = 0; j < height; j++)
            for (size_t i = 0; i < width; i++)
                out[(k * height + j) * width + i] = x[((depth - 1 - k) * height + j) * width + width - 1 - i];
}

void c_filled(float *out, const float *x, const int *lengths, int width, int height, int n) {
    EACH for (int row = 0; row < n / width; row++)
        for (int column = 0; column < width; column++) {
            int place = row * width + column;
            out[place] = column < lengths[row % height] ? x[place] : -1;
        }
}

void c_pair_scan(int *out, const int *in, int n) {
    EACH for (int start = 0; start < n; start += 512) {
        int sum = 0;
        for (int i = start; i < least(n, start + 512); i++) out[i] = sum += in[i];
    }
}

void c_atomic_sums(int *out, int each, int n) {
    EACH for (int i = 0; i < n; i++) {
        int sum = 0;
        for (int k = i * each; k < (i + 1) * each; k++) sum += k & 3;
        out[i] += sum;
    }
}

void c_eliminate_below(float *a, const float *factors, int step, int n) {
    EACH for (int y = step + 1; y < n; y++)
        for (int x = step; x < n; x++) a[n * y + x] -= factors[y] * a[n * step + x];
}

void c_square_product(float *out, const float *a, const float *b, int n) {
    EACH for (int y = 0; y < n; y++) {
        for (int x = 0; x < n; x++) out[y * n + x] = 0;
        for (int k = 0; k < n; k++)
            for (int x = 0; x < n; x++) out[y * n + x] += a[y * n + k] * b[k * n + x];
    }
}

void c_cosines(float *out, const float *in, const float *basis, int width, int height) {
    EACH for (int block = 0; block < width / 8 * (height / 8); block++) {
        int left = block % (width / 8) * 8, top = block / (width / 8) * 8;
        float rows[8][8];
        for (int v = 0; v < 8; v++)
            for (int u = 0; u < 8; u++) {
                float sum = 0;
                for (int k = 0; k < 8; k++) sum += (in[(top + v) * width + left + k] - 128) * basis[u * 8 + k];
                rows[v][u] = sum;
            }
        for (int v = 0; v < 8; v++)
            for (int u = 0; u < 8; u++) {
                float sum = 0;
                for (int k = 0; k < 8; k++) sum += rows[k][u] * basis[v * 8 + k];
                out[(top + v) * width + left + u] = sum;
            }
    }
}

void c_add_arrays(float *out, const float *in, float by, int n) {
    EACH for (int i = 0; i < 16 * n; i++) out[i] += by * in[i];
}
