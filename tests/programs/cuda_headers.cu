// What most CUDA programs include besides CUDA's own header, compiled once for all: reading headers
// takes longer than the rest of most programs.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
