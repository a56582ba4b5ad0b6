// A search with an array of bytes, at an index that changes in the loop: LLVM keeps it in registers for AMD.

struct Start {
    unsigned used;
    signed char board[4];
};

__device__ bool is_safe(const signed char *board, int row) {
    bool safe = true;
    for (int i = 0; i < row; ++i)
        if (board[i] == board[row]) safe = false;
    int left = board[row], right = board[row];
    for (int i = row - 1; i >= 0; --i) {
        --left;
        ++right;
        if (board[i] == left || board[i] == right) safe = false;
    }
    return safe;
}

extern "C" __global__ void queens(int size, int rows, int n, const Start *__restrict__ starts,
                                  unsigned *__restrict__ counts) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    signed char board[20];
#pragma unroll 2
    for (int i = 0; i < size; ++i) board[i] = -1;
    unsigned used = starts[t].used, count = 0;
    for (int i = 0; i < rows; ++i) board[i] = starts[t].board[i];
    int row = rows;
    do {
        board[row]++;
        unsigned bit = 1u << board[row];
        if (board[row] == size) {
            board[row] = -1;
        } else if (!(used & bit) && is_safe(board, row)) {
            used |= bit;
            row++;
            if (row == size) {
                ++count;
            } else {
                continue;
            }
        } else {
            continue;
        }
        row--;
        used &= ~(1u << board[row]);
    } while (row >= rows);
    counts[t] = count;
}
