use kernelmill_device::prelude::*;

/// The softmax of each row of `columns` elements. A block of 256 threads for each row.
#[kernel(block_size = [256, 1, 1])]
pub fn softmax(columns: u32, x: &[f32], mut y: DisjointSlice<f32>) {
    static mut TILE: SharedArray<f32, 256> = SharedArray::UNINIT;
    let t = thread::thread_idx().x as usize % 256;
    let columns = columns as usize;
    let start = thread::block_idx().x as usize * columns;
    let row = &x[start..start + columns];
    // SAFETY: a thread writes its own elements, and reads another's only after a barrier.
    unsafe {
        let mut most = f32::MIN;
        let mut i = t;
        while i < columns {
            most = most.max(row[i]);
            i += 256;
        }
        TILE[t] = most;
        thread::sync_threads();
        let mut half = 128;
        while half > 0 {
            if t < half {
                TILE[t] = TILE[t].max(TILE[t + half]);
            }
            thread::sync_threads();
            half /= 2;
        }
        let most = TILE[0];
        thread::sync_threads();
        let mut sum = 0.0;
        let mut i = t;
        while i < columns {
            let value = (row[i] - most).exp();
            *y.get_unchecked_mut(start + i) = value;
            sum += value;
            i += 256;
        }
        TILE[t] = sum;
        thread::sync_threads();
        let mut half = 128;
        while half > 0 {
            if t < half {
                TILE[t] += TILE[t + half];
            }
            thread::sync_threads();
            half /= 2;
        }
        let scale = 1.0 / TILE[0];
        let mut i = t;
        while i < columns {
            *y.get_unchecked_mut(start + i) *= scale;
            i += 256;
        }
    }
}
