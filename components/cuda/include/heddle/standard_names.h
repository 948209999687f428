/* cuda::std has the names of std, which clang lets device code use where they are constexpr. */
#ifndef HEDDLE_CUDA_STANDARD_NAMES_H
#define HEDDLE_CUDA_STANDARD_NAMES_H

namespace std
{
}
namespace cuda
{
namespace std
{
using namespace ::std;
}
} // namespace cuda

#endif
