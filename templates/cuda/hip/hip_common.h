// In place of the header of ROCm: what clang reads before every file in HIP has everything of it already.
#pragma once
