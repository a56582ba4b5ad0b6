// The kernels of HeCBench as plain loops, on as many threads as OpenMP takes.
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define EACH _Pragma("omp parallel for")
#define PI 3.14159265358979323846

void c_odd_sums(int *restrict out, int count, int size) {
    EACH for (int t = 0; t < count; t++)
        for (unsigned i = (unsigned)t * size; i < (unsigned)(t + 1) * size; i++) out[t] += i % 2;
}

void c_base64(const uint8_t *restrict in, uint8_t *restrict out, long n) {
    static const uint8_t chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    EACH for (long i = 0; i < n; i++) {
        uint8_t a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
        out[4 * i] = chars[a / 4];
        out[4 * i + 1] = chars[a * 16 % 64 + b / 16];
        out[4 * i + 2] = chars[b * 4 % 64 + c / 64];
        out[4 * i + 3] = chars[c % 64];
    }
}

void c_lstm(const float *restrict x, const float *restrict inw, const float *restrict intw, const float *restrict intb,
    const float *restrict outw, const float *restrict outb, float *restrict y, int n, int length) {
    EACH for (int s = 0; s < n; s++) {
        float h[5] = {0}, c[5] = {0}, gate[4][5];
        for (int t = 0; t < length; t++) {
            float in = x[s * length + t];
            for (int g = 0; g < 4; g++)
                for (int j = 0; j < 5; j++) {
                    float sum = inw[5 * g + j] * in;
                    for (int i = 0; i < 5; i++) sum += h[i] * intw[25 * g + 5 * j + i];
                    sum += intb[5 * g + j];
                    gate[g][j] = g == 3 ? tanhf(sum) : 1 / (1 + expf(-sum));
                }
            for (int j = 0; j < 5; j++) {
                c[j] = c[j] * gate[1][j] + gate[3][j] * gate[0][j];
                h[j] = tanhf(c[j]) * gate[2][j];
            }
            float out = outb[0];
            for (int j = 0; j < 5; j++) out += h[j] * outw[j];
            y[s * length + t] = out;
        }
    }
}

void c_conv_channels(const float *restrict x, const float *restrict w, float *restrict y, int n, int c, int m, int k, int in, int out) {
#pragma omp parallel for collapse(2)
    for (int image = 0; image < n; image++)
        for (int map = 0; map < m; map++)
            for (int row = 0; row < out; row++)
                for (int column = 0; column < out; column++) {
                    float sum = 0;
                    for (int channel = 0; channel < c; channel++)
                        for (int p = 0; p < k; p++)
                            for (int q = 0; q < k; q++)
                                sum += x[((image * c + channel) * in + row + p) * in + column + q] * w[((map * c + channel) * k + p) * k + q];
                    y[((image * m + map) * out + row) * out + column] = sum;
                }
}

void c_extrema(const float *restrict x, bool *restrict out, int n, int order) {
    EACH for (int i = 0; i < n; i++) {
        bool is = true;
        for (int o = 1; o <= order; o++) {
            int plus = i + o >= n ? n - 1 : i + o, minus = i - o < 0 ? 0 : i - o;
            is &= x[i] > x[plus];
            is &= x[i] >= x[minus];
        }
        out[i] = is;
    }
}

// The first and the last of three dimensions are turned round.
void c_flip(const float *restrict x, float *restrict out, int a, int b, int c) {
    EACH for (int i = 0; i < a; i++)
        for (int j = 0; j < b; j++)
            for (int k = 0; k < c; k++) out[(i * b + j) * c + k] = x[((a - 1 - i) * b + j) * c + c - 1 - k];
}

void c_gabor(double *restrict out, int height, int width, double cy, double cx, double ct, double st, double scale, double sx2, double sy2, double fx) {
    EACH for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            double u = ct * (x - cx) - st * (y - cy), v = ct * (y - cy) + st * (x - cx);
            out[y * width + x] = scale * exp(-0.5 * (u * u / sx2 + v * v / sy2)) * cos(2 * PI * fx * u);
        }
}

void c_gate(double *restrict gate, const double *restrict vm, long n) {
    static const double mhu[15] = {9.9632117206253790e-01, 4.0825738726469545e-02, 6.3401613233199589e-04, 4.4158436861700431e-06, 1.1622058324043520e-08, 1.0000000000000000e+00, 4.0568375699663400e-02, 6.4216825832642788e-04, 4.2661664422410096e-06, 1.3559930396321903e-08, -1.3573468728873069e-11, -4.2594802366702580e-13, 7.6779952208246166e-15, 1.4260675804433780e-16, -2.6656212072499249e-18};
    static const double tau[18] = {1.7765862602413648e+01*0.02, 5.0010202770602419e-02*0.02, -7.8002064070783474e-04*0.02, -6.9399661775931530e-05*0.02, 1.6936588308244311e-06*0.02, 5.4629017090963798e-07*0.02, -1.3805420990037933e-08*0.02, -8.0678945216155694e-10*0.02, 1.6209833004622630e-11*0.02, 6.5130101230170358e-13*0.02, -6.9931705949674988e-15*0.02, -3.1161210504114690e-16*0.02, 5.0166191902609083e-19*0.02, 7.8608831661430381e-20*0.02, 4.3936315597226053e-22*0.02, -7.0535966258003289e-24*0.02, -9.0473475495087118e-26*0.02, -2.9878427692323621e-28*0.02};
    EACH for (long i = 0; i < n; i++) {
        double x = vm[i], above = 0, below = 0, rate = 0;
        for (int j = 4; j >= 0; j--) above = mhu[j] + x * above;
        for (int j = 14; j >= 5; j--) below = mhu[j] + x * below;
        for (int j = 17; j >= 0; j--) rate = tau[j] + x * rate;
        gate[i] += (above / below - gate[i]) * (1 - exp(-rate));
    }
}

void c_haccmk(const float *restrict x, const float *restrict y, const float *restrict z, const float *restrict mass,
    float *restrict vx, float *restrict vy, float *restrict vz, int n, float most, float rsm, float by) {
    EACH for (int i = 0; i < n; i++) {
        float sx = 0, sy = 0, sz = 0;
        for (int j = 0; j < n; j++) {
            float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
            float r2 = dx * dx + dy * dy + dz * dz, m = r2 < most ? mass[j] : 0, f = r2 + rsm;
            f = m * (1 / (f * sqrtf(f)) - (0.269327f + r2 * (-0.0750978f + r2 * (0.0114808f + r2 * (-0.00109313f + r2 * (0.0000605491f + r2 * -0.00000147177f))))));
            sx += f * dx;
            sy += f * dy;
            sz += f * dz;
        }
        vx[i] += sx * by;
        vy[i] += sy * by;
        vz[i] += sz * by;
    }
}

void c_laplace(float *restrict out, const float *restrict in, float delta, float norm, int lx, int ly) {
    EACH for (int y = 0; y < ly; y++)
        for (int x = 0; x < lx; x++)
            out[y * lx + x] = norm * in[y * lx + x]
                + delta * (in[y * lx + (x + 1) % lx] + in[y * lx + (lx + x - 1) % lx] + in[(y + 1) % ly * lx + x] + in[(ly + y - 1) % ly * lx + x]);
}

void c_jacobi(float *restrict f, const float *restrict old, float *restrict error, int n) {
    float sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int j = 1; j < n - 1; j++) {
        float row = 0;
        for (int i = 1; i < n - 1; i++) {
            f[i + j * n] = 0.25f * (old[i + 1 + j * n] + old[i - 1 + j * n] + old[i + (j + 1) * n] + old[i + (j - 1) * n]);
            float by = f[i + j * n] - old[i + j * n];
            row += by * by;
        }
        sum += row;
    }
    *error += sum;
}

void c_keogh(const float *restrict subject, const float *restrict avgs, const float *restrict stds, float *restrict out,
    const float *restrict lower, const float *restrict upper, int m, int n) {
    EACH for (int i = 0; i < n - m + 1; i++) {
        float sum = 0;
        for (int j = 0; j < m; j++) {
            float value = (subject[i + j] - avgs[i]) / stds[i], l = value - lower[j], u = value - upper[j];
            sum += u * u * (u > 0) + l * l * (l < 0);
        }
        out[i] = sum;
    }
}

void c_langevin0(const float *restrict x, float *restrict out, int n) {
    EACH for (int i = 0; i < n; i++) out[i] = coshf(x[i]) / sinhf(x[i]) - 1 / x[i];
}

void c_langevin2(const float *restrict in, float *restrict out, int n) {
    EACH for (int i = 0; i < n; i++) {
        float x = in[i], s = x * x, r = 7.70960469e-8f;
        r = r * s - 1.65101926e-6f;
        r = r * s + 2.03457112e-5f;
        r = r * s - 2.10521728e-4f;
        r = r * s + 2.11580913e-3f;
        r = r * s - 2.22220998e-2f;
        r = r * s + 8.33333284e-2f;
        out[i] = r * x + 0.25f * x;
    }
}

void c_sequence_mask(int n, int m, int b, const float *restrict in, const int *restrict lengths, float fill, float *restrict out) {
    EACH for (int i = 0; i < b; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < m; k++) out[(i * n + j) * m + k] = k >= lengths[j] ? fill : in[(i * n + j) * m + k];
}

void c_turn(float *restrict out, const float *restrict in, int width, int height) {
    EACH for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) out[x * height + y] = in[y * width + x];
}

void c_same(float *restrict out, const float *restrict in, long n) {
    EACH for (long i = 0; i < n; i++) out[i] = in[i];
}

void c_probs(const double *restrict alphas, const double *restrict rands, double *restrict probs, int n, int k, int m) {
    EACH for (int i = 0; i < n; i++) {
        for (int c = 0; c < k; c++) probs[i * k + c] = 0;
        for (int r = 0; r < m; r++) {
            int best = k - 1;
            double most = alphas[i * k + k - 1] + rands[r * k + k - 1];
            for (int c = 0; c < k - 1; c++) {
                double w = alphas[i * k + c] + rands[r * k + c];
                if (w > most) {
                    most = w;
                    best = c;
                }
            }
            probs[i * k + best] += 1;
        }
        for (int c = 0; c < k; c++) probs[i * k + c] /= m;
    }
}

void c_sigmas(const float *restrict distances, float *restrict p, float desired, int epochs, float tol, int n, int k) {
    EACH for (int i = 0; i < n; i++) {
        float least = -INFINITY, most = INFINITY, beta = 1;
        for (int step = 0; step < epochs; step++) {
            float sum = FLT_EPSILON, weighted = 0;
            for (int j = 0; j < k; j++) {
                p[i * k + j] = expf(-distances[i * k + j] * beta);
                sum += p[i * k + j];
            }
            float div = 1 / sum;
            for (int j = 0; j < k; j++) {
                p[i * k + j] *= div;
                weighted += distances[i * k + j] * p[i * k + j];
            }
            float by = logf(sum) + beta * weighted - desired;
            if (fabsf(by) <= tol) break;
            if (by > 0) {
                least = beta;
                beta = isinf(most) ? 2 * beta : 0.5f * (beta + most);
            } else {
                most = beta;
                beta = isinf(least) ? 0.5f * beta : 0.5f * (beta + least);
            }
        }
    }
}

void c_reverse(int *restrict d, int n) {
    for (int i = 0; i < n / 2; i++) {
        int t = d[i];
        d[i] = d[n - 1 - i];
        d[n - 1 - i] = t;
    }
}

void c_scan_blocks(float *restrict out, const float *restrict in, float *restrict sums, int blocks, int size) {
    EACH for (int b = 0; b < blocks; b++) {
        float sum = 0;
        for (int i = 0; i < size; i++) {
            out[b * size + i] = sum;
            sum += in[b * size + i];
        }
        sums[b] = sum;
    }
}

void c_add_blocks(const float *restrict in, float *restrict out, int blocks, int size) {
    EACH for (int b = 0; b < blocks; b++)
        for (int i = 0; i < size; i++) out[b * size + i] += in[b];
}

void c_silu(const float *restrict x, float *restrict out, long n) {
    EACH for (long i = 0; i < n; i++) out[i] = x[i] / (1 + expf(-x[i]));
}

void c_silu_backward(const float *restrict dout, const float *restrict x, float *restrict dx, long n) {
    EACH for (long i = 0; i < n; i++) {
        float e = expf(-x[i]);
        dx[i] = dout[i] * ((1 + x[i] * e / (1 + e)) / (1 + e));
    }
}

void c_surfel(const double *restrict s, int n, double f, int w, int h, double *restrict out) {
    EACH for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            double rx = x - (w - 1) * 0.5, ry = y - (h - 1) * 0.5, least = 1e20;
            for (int i = 0; i < n; i++) {
                const double *p = s + 7 * i, *normal = p + 3;
                double alpha = (p[0] * normal[0] + p[1] * normal[1] + p[2] * normal[2]) / (rx * normal[0] + ry * normal[1] + f * normal[2]);
                double dx = rx * alpha - p[0], dy = ry * alpha - p[1], dz = f * alpha - p[2];
                if (dx * dx + dy * dy + dz * dz < p[6] && least > f * alpha) least = f * alpha;
            }
            out[y * w + x] = least > 100 ? 0 : least;
        }
}

void c_genuchten(const double *restrict ksat, const double *restrict psi, double *restrict c, double *restrict theta, double *restrict k, int size) {
    const double alpha = 0.02, ts = 0.45, tr = 0.1, n = 1.8, m = (n - 1) / n;
    EACH for (int i = 0; i < size; i++) {
        double p = psi[i] * 100, th = p < 0 ? (ts - tr) / pow(1 + pow(alpha * -p, n), m) + tr : ts;
        theta[i] = th;
        double se = (th - tr) / (ts - tr), t = 1 - pow(1 - pow(se, 1 / m), m);
        k[i] = ksat[i] * sqrt(se) * t * t;
        c[i] = p < 0 ? 100 * alpha * n * (1 / n - 1) * pow(alpha * fabs(p), n - 1) * (tr - ts) * pow(pow(alpha * fabs(p), n) + 1, 1 / n - 2) : 0;
    }
}

void c_winograd(const float *restrict in, const float *restrict filter, float *restrict out, int size) {
    EACH for (int ti = 0; ti < size / 2; ti++)
        for (int tj = 0; tj < size / 2; tj++) {
            float d[4][4], t[4][4];
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) {
                    int x = 2 * ti + i, y = 2 * tj + j;
                    d[i][j] = x >= size || y >= size ? 0 : in[x * size + y];
                }
            for (int j = 0; j < 4; j++) {
                t[0][j] = d[0][j] - d[2][j];
                t[1][j] = d[1][j] + d[2][j];
                t[2][j] = d[2][j] - d[1][j];
                t[3][j] = d[1][j] - d[3][j];
            }
            for (int i = 0; i < 4; i++) {
                d[i][0] = (t[i][0] - t[i][2]) * filter[4 * i];
                d[i][1] = (t[i][1] + t[i][2]) * filter[4 * i + 1];
                d[i][2] = (t[i][2] - t[i][1]) * filter[4 * i + 2];
                d[i][3] = (t[i][1] - t[i][3]) * filter[4 * i + 3];
            }
            for (int j = 0; j < 4; j++) {
                t[0][j] = d[0][j] + d[1][j] + d[2][j];
                t[1][j] = d[1][j] - d[2][j] - d[3][j];
            }
            for (int i = 0; i < 2; i++) {
                float both[2] = {t[i][0] + t[i][1] + t[i][2], t[i][1] - t[i][2] - t[i][3]};
                for (int j = 0; j < 2; j++) {
                    int x = 2 * ti + i, y = 2 * tj + j;
                    if (x < size - 2 && y < size - 2) out[x * (size - 2) + y] = both[j];
                }
            }
        }
}
