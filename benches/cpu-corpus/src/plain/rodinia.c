// The kernels of Rodinia as plain loops, on as many threads as OpenMP takes.
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define EACH _Pragma("omp parallel for")

static int least(int a, int b) { return a < b ? a : b; }
static int most(int a, int b) { return a > b ? a : b; }

// Sixteen rows of weights at a time, scaled and summed in pairs; the partial sums stay in place of the weights.
void c_layerforward(const float *restrict input, float *restrict weights, float *restrict partial, int blocks, int hid) {
    EACH for (int by = 0; by < blocks; by++)
        for (int tx = 0; tx < 16; tx++) {
            float w[16];
            for (int ty = 0; ty < 16; ty++)
                w[ty] = weights[(hid + 1) * (16 * by + ty + 1) + tx + 1] * input[16 * by + ty + 1];
            for (int step = 2; step <= 16; step *= 2)
                for (int ty = 0; ty < 16; ty += step) w[ty] += w[ty + step / 2];
            for (int ty = 0; ty < 16; ty++) weights[(hid + 1) * (16 * by + ty + 1) + tx + 1] = w[ty];
            partial[by * hid + tx] = w[0];
        }
}

void c_adjust_weights(const float *restrict delta, const float *restrict ly, float *restrict w, float *restrict oldw, int in, int hid) {
    EACH for (int y = 1; y <= in; y++)
        for (int x = 1; x <= hid; x++) {
            float by = 0.3f * delta[x] * ly[y] + 0.3f * oldw[(hid + 1) * y + x];
            w[(hid + 1) * y + x] += by;
            oldw[(hid + 1) * y + x] = by;
        }
    for (int x = 1; x <= hid; x++) {
        float by = 0.3f * delta[x] + 0.3f * oldw[x];
        w[x] += by;
        oldw[x] = by;
    }
}

void c_bfs_update(bool *restrict mask, bool *restrict updating, bool *restrict visited, bool *restrict over, int n) {
    EACH for (int i = 0; i < n; i++)
        if (updating[i]) {
            mask[i] = true;
            visited[i] = true;
            *over = true;
            updating[i] = false;
        }
}

void c_fan1(float *restrict m, const float *restrict a, int size, int t) {
    EACH for (int i = 0; i < size - 1 - t; i++) m[size * (i + t + 1) + t] = a[size * (i + t + 1) + t] / a[size * t + t];
}

void c_fan2(const float *restrict m, float *restrict a, float *restrict b, int size, int t) {
    EACH for (int x = t + 1; x < size; x++) {
        for (int y = t; y < size; y++) a[size * x + y] -= m[size * x + t] * a[size * t + y];
        b[x] -= m[size * x + t] * b[t];
    }
}

void c_hotspot(const float *restrict power, const float *restrict from, float *restrict to, int n, float cap, float rx, float ry, float rz, float step) {
    EACH for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float here = from[y * n + x];
            float vertical = from[least(y + 1, n - 1) * n + x] + from[most(y - 1, 0) * n + x] - 2 * here;
            float horizontal = from[y * n + least(x + 1, n - 1)] + from[y * n + most(x - 1, 0)] - 2 * here;
            to[y * n + x] = here + step / cap * (power[y * n + x] + vertical / ry + horizontal / rx + (80 - here) / rz);
        }
}

void c_hotspot3d(const float *restrict p, const float *restrict from, float *restrict to, float sdc, int nx, int ny, int nz, float side, float layer, float center) {
    EACH for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++) {
                int c = (z * ny + y) * nx + x;
                int w = x == 0 ? c : c - 1, e = x == nx - 1 ? c : c + 1;
                int n = y == 0 ? c : c - nx, s = y == ny - 1 ? c : c + nx;
                int b = z == 0 ? c : c - nx * ny, t = z == nz - 1 ? c : c + nx * ny;
                to[c] = center * from[c] + side * (from[w] + from[e] + from[s] + from[n]) + layer * (from[b] + from[t]) + sdc * p[c] + layer * 80;
            }
}

void c_lud_perimeter(float *restrict m, int n) {
    EACH for (int block = 1; block < n / 16; block++) {
        for (int i = 1; i < 16; i++)
            for (int j = 0; j < i; j++)
                for (int x = 0; x < 16; x++) m[i * n + 16 * block + x] -= m[i * n + j] * m[j * n + 16 * block + x];
        for (int y = 16 * block; y < 16 * block + 16; y++)
            for (int i = 0; i < 16; i++) {
                for (int j = 0; j < i; j++) m[y * n + i] -= m[y * n + j] * m[j * n + i];
                m[y * n + i] /= m[i * n + i];
            }
    }
}

void c_lud_internal(float *restrict m, int n) {
    EACH for (int y = 16; y < n; y++)
        for (int x = 16; x < n; x++) {
            float sum = 0;
            for (int i = 0; i < 16; i++) sum += m[y * n + i] * m[i * n + x];
            m[y * n + x] -= sum;
        }
}

// The blocks of an antidiagonal.
void c_needle(const int *restrict ref, int *restrict m, int cols, int penalty, int blocks) {
    EACH for (int bx = 0; bx < blocks; bx++)
        for (int y = 16 * (blocks - 1 - bx) + 1; y <= 16 * (blocks - bx); y++)
            for (int x = 16 * bx + 1; x <= 16 * bx + 16; x++)
                m[y * cols + x] = most(m[(y - 1) * cols + x - 1] + ref[y * cols + x],
                    most(m[y * cols + x - 1] - penalty, m[(y - 1) * cols + x] - penalty));
}

void c_particles(const double *restrict ax, const double *restrict ay, const double *restrict cdf, const double *restrict u, double *restrict xj, double *restrict yj, int n) {
    EACH for (int i = 0; i < n; i++) {
        int index = n - 1;
        for (int x = 0; x < n; x++)
            if (cdf[x] >= u[i]) {
                index = x;
                break;
            }
        xj[i] = ax[index];
        yj[i] = ay[index];
    }
}

void c_pathfinder(const int *restrict wall, const int *restrict from, int *restrict to, int cols, int row) {
    EACH for (int x = 0; x < cols; x++) {
        int left = from[most(x - 1, 0)], right = from[least(x + 1, cols - 1)];
        to[x] = least(least(left, from[x]), right) + wall[cols * row + x];
    }
}

void c_extract(float *restrict image, long n) {
    EACH for (long i = 0; i < n; i++) image[i] = expf(image[i] / 255);
}

void c_prepare(const float *restrict image, float *restrict sums, float *restrict sums2, long n) {
    EACH for (long i = 0; i < n; i++) {
        sums[i] = image[i];
        sums2[i] = image[i] * image[i];
    }
}

void c_srad(int nr, int nc, const int *restrict in, const int *restrict is, const int *restrict je, const int *restrict jw,
    float *restrict dn, float *restrict ds, float *restrict de, float *restrict dw, float q0, float *restrict c, const float *restrict image) {
    EACH for (int col = 0; col < nc; col++)
        for (int row = 0; row < nr; row++) {
            int i = row + nr * col;
            float here = image[i];
            float n = image[in[row] + nr * col] - here, s = image[is[row] + nr * col] - here;
            float w = image[row + nr * jw[col]] - here, e = image[row + nr * je[col]] - here;
            float g2 = (n * n + s * s + w * w + e * e) / (here * here), l = (n + s + w + e) / here;
            float num = 0.5f * g2 - 1.0f / 16 * (l * l), den = 1 + 0.25f * l;
            float q = num / (den * den);
            den = (q - q0) / (q0 * (1 + q0));
            float out = 1 / (1 + den);
            dn[i] = n;
            ds[i] = s;
            de[i] = e;
            dw[i] = w;
            c[i] = out < 0 ? 0 : out > 1 ? 1 : out;
        }
}

void c_srad2(float lambda, int nr, int nc, const int *restrict is, const int *restrict je, const float *restrict dn, const float *restrict ds,
    const float *restrict de, const float *restrict dw, const float *restrict c, float *restrict image) {
    EACH for (int col = 0; col < nc; col++)
        for (int row = 0; row < nr; row++) {
            int i = row + nr * col;
            float d = c[i] * dn[i] + c[is[row] + nr * col] * ds[i] + c[i] * dw[i] + c[row + nr * je[col]] * de[i];
            image[i] += 0.25f * lambda * d;
        }
}
