// The kernels of PolyBench/GPU as plain loops, on as many threads as OpenMP takes.
#include <math.h>

#define EACH _Pragma("omp parallel for")
#define EACH_PAIR _Pragma("omp parallel for schedule(dynamic, 8)")

void c_conv2d(const float *restrict a, float *restrict b, int ni, int nj) {
    EACH for (int i = 1; i < ni - 1; i++)
        for (int j = 1; j < nj - 1; j++)
            b[i * nj + j] = 0.2f * a[(i - 1) * nj + j - 1] + 0.5f * a[(i - 1) * nj + j] - 0.8f * a[(i - 1) * nj + j + 1]
                - 0.3f * a[i * nj + j - 1] + 0.6f * a[i * nj + j] - 0.9f * a[i * nj + j + 1]
                + 0.4f * a[(i + 1) * nj + j - 1] + 0.7f * a[(i + 1) * nj + j] + 0.1f * a[(i + 1) * nj + j + 1];
}

void c_conv3d(const float *restrict a, float *restrict b, int nj, int nk, int i) {
    const float *below = a + (i - 1) * nj * nk, *here = a + i * nj * nk, *above = a + (i + 1) * nj * nk;
    EACH for (int j = 1; j < nj - 1; j++)
        for (int k = 1; k < nk - 1; k++)
            b[i * nj * nk + j * nk + k] = 2 * below[(j - 1) * nk + k - 1] + 4 * above[(j - 1) * nk + k - 1]
                + 5 * below[(j - 1) * nk + k - 1] + 7 * above[(j - 1) * nk + k - 1]
                - 8 * below[(j - 1) * nk + k - 1] + 10 * above[(j - 1) * nk + k - 1]
                - 3 * here[(j - 1) * nk + k] + 6 * here[j * nk + k]
                - 9 * here[(j + 1) * nk + k] + 2 * below[(j - 1) * nk + k + 1]
                + 4 * above[(j - 1) * nk + k + 1] + 5 * below[j * nk + k + 1]
                + 7 * above[j * nk + k + 1] - 8 * below[(j + 1) * nk + k + 1]
                + 10 * above[(j + 1) * nk + k + 1];
}

// c = beta * c + alpha * a * b, in the order of PolyBench/C.
void c_gemm(const float *restrict a, const float *restrict b, float *restrict c, int ni, int nj, int nk, float alpha, float beta) {
    EACH for (int i = 0; i < ni; i++) {
        for (int j = 0; j < nj; j++) c[i * nj + j] *= beta;
        for (int k = 0; k < nk; k++)
            for (int j = 0; j < nj; j++) c[i * nj + j] += alpha * a[i * nk + k] * b[k * nj + j];
    }
}

void c_adi1(const float *restrict a, float *restrict b, float *restrict x, int n) {
    EACH for (int i = 0; i < n; i++)
        for (int j = 1; j < n; j++) {
            x[i * n + j] = x[i * n + j] - x[i * n + j - 1] * a[i * n + j] / b[i * n + j - 1];
            b[i * n + j] = b[i * n + j] - a[i * n + j] * a[i * n + j] / b[i * n + j - 1];
        }
}

void c_adi6(const float *restrict a, const float *restrict b, float *restrict x, int n, int i1) {
    EACH for (int i = 0; i < n; i++)
        x[(n - 2 - i1) * n + i] = (x[(n - 2 - i1) * n + i] - x[(n - i1 - 3) * n + i] * a[(n - 3 - i1) * n + i]) / b[(n - 2 - i1) * n + i];
}

void c_row_products(const float *restrict a, const float *restrict x, float *restrict out, int rows, int columns) {
    EACH for (int i = 0; i < rows; i++) {
        float sum = 0;
        for (int j = 0; j < columns; j++) sum += a[i * columns + j] * x[j];
        out[i] = sum;
    }
}

void c_column_products_by(const float *restrict a, const float *restrict x, float *restrict out, int rows, int columns) {
    EACH for (int j = 0; j < columns; j++) {
        float sum = 0;
        for (int i = 0; i < rows; i++) sum += a[i * columns + j] * x[i];
        out[j] = sum;
    }
}

void c_column_means(float *restrict mean, const float *restrict data, int m, int n) {
    EACH for (int j = 0; j < m; j++) {
        float sum = 0;
        for (int i = 0; i < n; i++) sum += data[i * m + j];
        mean[j] = sum / 3214212.01f;
    }
}

void c_corr(float *restrict symmat, const float *restrict data, int m, int n) {
    EACH_PAIR for (int j1 = 0; j1 < m - 1; j1++) {
        symmat[j1 * m + j1] = 1;
        for (int j2 = j1 + 1; j2 < m; j2++) {
            float sum = 0;
            for (int i = 0; i < n; i++) sum += data[i * m + j1] * data[i * m + j2];
            symmat[j1 * m + j2] = symmat[j2 * m + j1] = sum;
        }
    }
}

void c_covar(float *restrict symmat, const float *restrict data, int m, int n) {
    EACH_PAIR for (int j1 = 0; j1 < m; j1++)
        for (int j2 = j1; j2 < m; j2++) {
            float sum = 0;
            for (int i = 0; i < n; i++) sum += data[i * m + j1] * data[i * m + j2];
            symmat[j1 * m + j2] = symmat[j2 * m + j1] = sum;
        }
}

void c_doitgen1(float *restrict sum, const float *restrict a, const float *restrict c4, int nq, int np, int r) {
    EACH for (int q = 0; q < nq; q++)
        for (int p = 0; p < np; p++) {
            float all = 0;
            for (int s = 0; s < np; s++) all += a[r * nq * np + q * np + s] * c4[s * np + p];
            sum[r * nq * np + q * np + p] = all;
        }
}

void c_doitgen2(const float *restrict sum, float *restrict a, int nq, int np, int r) {
    EACH for (int q = 0; q < nq; q++)
        for (int p = 0; p < np; p++) a[r * nq * np + q * np + p] = sum[r * nq * np + q * np + p];
}

void c_fdtd1(const float *restrict fict, float *restrict ey, const float *restrict hz, int nx, int ny, int t) {
    EACH for (int i = 0; i < nx; i++)
        for (int j = 0; j < ny; j++)
            ey[i * ny + j] = i == 0 ? fict[t] : ey[i * ny + j] - 0.5f * (hz[i * ny + j] - hz[(i - 1) * ny + j]);
}

void c_fdtd3(const float *restrict ex, const float *restrict ey, float *restrict hz, int nx, int ny) {
    EACH for (int i = 0; i < nx - 1; i++)
        for (int j = 0; j < ny - 1; j++)
            hz[i * ny + j] -= 0.7f * (ex[i * ny + j + 1] - ex[i * ny + j] + ey[(i + 1) * ny + j] - ey[i * ny + j]);
}

void c_gemver1(float *restrict a, const float *restrict v1, const float *restrict v2, const float *restrict u1, const float *restrict u2, int n) {
    EACH for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) a[i * n + j] += u1[i] * v1[j] + u2[i] * v2[j];
}

void c_gemver3(const float *restrict a, const float *restrict x, float *restrict w, int n, float alpha) {
    EACH for (int i = 0; i < n; i++) {
        float sum = w[i];
        for (int j = 0; j < n; j++) sum += alpha * a[i * n + j] * x[j];
        w[i] = sum;
    }
}

void c_gesummv(const float *restrict a, const float *restrict b, float *restrict tmp, const float *restrict x, float *restrict y, int n, float alpha, float beta) {
    EACH for (int i = 0; i < n; i++) {
        float one = tmp[i], other = y[i];
        for (int j = 0; j < n; j++) {
            one += a[i * n + j] * x[j];
            other += b[i * n + j] * x[j];
        }
        tmp[i] = one;
        y[i] = alpha * one + beta * other;
    }
}

void c_gramschmidt1(const float *restrict a, float *restrict r, int ni, int nj, int k) {
    float sum = 0;
    for (int i = 0; i < ni; i++) sum += a[i * nj + k] * a[i * nj + k];
    r[k * nj + k] = sqrtf(sum);
}

void c_gramschmidt3(float *restrict a, float *restrict r, const float *restrict q, int ni, int nj, int k) {
    EACH for (int j = k + 1; j < nj; j++) {
        float sum = 0;
        for (int i = 0; i < ni; i++) sum += q[i * nj + k] * a[i * nj + j];
        r[k * nj + j] = sum;
        for (int i = 0; i < ni; i++) a[i * nj + j] -= q[i * nj + k] * sum;
    }
}

void c_jacobi1d(const float *restrict a, float *restrict b, int n) {
    EACH for (int i = 1; i < n - 1; i++) b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1]);
}

void c_jacobi1d_copy(float *restrict a, const float *restrict b, int n) {
    EACH for (int i = 1; i < n - 1; i++) a[i] = b[i];
}

void c_jacobi2d(const float *restrict a, float *restrict b, int n) {
    EACH for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            b[i * n + j] = 0.2f * (a[i * n + j] + a[i * n + j - 1] + a[i * n + j + 1] + a[(i + 1) * n + j] + a[(i - 1) * n + j]);
}

void c_jacobi2d_copy(float *restrict a, const float *restrict b, int n) {
    EACH for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) a[i * n + j] = b[i * n + j];
}

void c_lu1(float *restrict a, int n, int k) {
    EACH for (int j = k + 1; j < n; j++) a[k * n + j] = a[k * n + j] / a[k * n + k];
}

void c_lu2(float *restrict a, int n, int k) {
    EACH for (int i = k + 1; i < n; i++)
        for (int j = k + 1; j < n; j++) a[i * n + j] -= a[i * n + k] * a[k * n + j];
}

void c_mvt2(const float *restrict a, float *restrict x, const float *restrict y, int n) {
    EACH for (int i = 0; i < n; i++) {
        float sum = x[i];
        for (int j = 0; j < n; j++) sum += a[j * n + i] * y[j];
        x[i] = sum;
    }
}

void c_syr2k(const float *restrict a, const float *restrict b, float *restrict c, int ni, int nj, float alpha, float beta) {
    EACH for (int i = 0; i < ni; i++)
        for (int j = 0; j < ni; j++) {
            float sum = c[i * ni + j] * beta;
            for (int k = 0; k < nj; k++) sum += alpha * a[i * nj + k] * b[j * nj + k] + alpha * b[i * nj + k] * a[j * nj + k];
            c[i * ni + j] = sum;
        }
}

void c_syrk(const float *restrict a, float *restrict c, int ni, int nj, float alpha, float beta) {
    EACH for (int i = 0; i < ni; i++)
        for (int j = 0; j < ni; j++) {
            float sum = c[i * ni + j] * beta;
            for (int k = 0; k < nj; k++) sum += alpha * a[i * nj + k] * a[j * nj + k];
            c[i * ni + j] = sum;
        }
}
