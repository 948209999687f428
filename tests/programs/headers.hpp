// What every program includes (check.hpp), compiled once for all: reading these headers takes longer
// than the rest of most programs.
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>
