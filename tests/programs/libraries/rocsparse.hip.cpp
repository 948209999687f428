// rocSPARSE: a sparse matrix times a vector by the library's kernels, whose code is Debian's.
// Products and sums are small integers, so they are exact. Arguments: [rows].
#include "../check.hpp"

#include <rocsparse/rocsparse.h>

#define SPARSE_MUST(call)                                                                          \
    do {                                                                                           \
        rocsparse_status status = (call);                                                          \
        if (status != rocsparse_status_success) {                                                  \
            std::printf("FAIL rocsparse: line %d: %s gives %d\n", __LINE__, #call, status);        \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

int main(int argc, char **argv)
{
    int rows = size_argument(argc, argv, 1, 1000);
    random_source random;
    std::vector<int> begins(1), columns;
    std::vector<float> values, x(rows), y(rows, 3), want(rows);
    for (float &each : x)
        each = static_cast<float>(random.next() % 9);
    for (int row = 0; row < rows; row++) {
        for (unsigned k = random.next() % 40; k > 0; k--) {
            columns.push_back(static_cast<int>(random.next() % static_cast<unsigned>(rows)));
            values.push_back(static_cast<float>(random.next() % 5));
            want[row] += 2 * values.back() * x[columns.back()];
        }
        want[row] += 3; // beta is 1
        begins.push_back(static_cast<int>(columns.size()));
    }
    rocsparse_handle handle;
    rocsparse_mat_descr matrix;
    const float alpha = 2, beta = 1;
    float *dvalues = to_device(values), *dx = to_device(x), *dy = to_device(y);
    SPARSE_MUST(rocsparse_create_handle(&handle));
    SPARSE_MUST(rocsparse_create_mat_descr(&matrix));
    SPARSE_MUST(rocsparse_scsrmv(handle, rocsparse_operation_none, rows, rows, begins.back(), &alpha,
                                 matrix, dvalues, to_device(begins), to_device(columns), nullptr, dx,
                                 &beta, dy));
    from_device(y, dy);
    SPARSE_MUST(rocsparse_destroy_mat_descr(matrix));
    SPARSE_MUST(rocsparse_destroy_handle(handle));
    return same_or_report("rocsparse", y, want) ? pass("rocsparse") : 1;
}
