// rocSPARSE, an example a case: `sparse_examples CASE`. Sparse vectors, formats of matrices, a
// triangular system. All numbers are small integers, so that results are exact.
#include "../check.hpp"

#include <rocsparse/rocsparse.h>

#define SPARSE_MUST(call)                                                                          \
    do {                                                                                           \
        rocsparse_status status = (call);                                                          \
        if (status != rocsparse_status_success) {                                                  \
            std::printf("FAIL sparse_examples: line %d: %s gives %d\n", __LINE__, #call, status);  \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

static rocsparse_handle handle;

// y += 3 x, x . y, and the elements of y where x has some.
static bool vectors()
{
    const int n = 2000, count = 300;
    std::vector<float> x(count), y(n), want, gathered(count), expected(count);
    std::vector<int> places(count);
    for (int i = 0; i < n; i++) {
        y[i] = i % 11;
    }
    float dot = 0, got = -1;
    const float three = 3;
    want = y;
    for (int i = 0; i < count; i++) {
        places[i] = 5 * i + i % 3;
        x[i] = 1 + i % 7;
        want[places[i]] += 3 * x[i];
        expected[i] = want[places[i]];
        dot += x[i] * want[places[i]];
    }
    float *dx = to_device(x), *dy = to_device(y), *dgathered = device_zeros<float>(count);
    int *dplaces = to_device(places);
    SPARSE_MUST(
        rocsparse_saxpyi(handle, count, &three, dx, dplaces, dy, rocsparse_index_base_zero));
    SPARSE_MUST(rocsparse_sdoti(handle, count, dx, dplaces, dy, &got, rocsparse_index_base_zero));
    SPARSE_MUST(rocsparse_sgthr(handle, count, dy, dgathered, dplaces, rocsparse_index_base_zero));
    HIP_MUST(hipDeviceSynchronize());
    from_device(y, dy);
    from_device(gathered, dgathered);
    if (got != dot) {
        std::printf("FAIL sparse_examples: the product is %g, expected %g\n", got, dot);
    }
    return got == dot && same_or_report("sparse_examples", y, want)
           && same_or_report("sparse_examples", gathered, expected);
}

// Rows of a list of elements become ranges, and the transposed matrix is that of the host.
static bool formats()
{
    const int rows = 100, columns = 70;
    std::vector<int> row, column, begins(rows + 1), got_begins(rows + 1);
    std::vector<float> values;
    std::vector<std::vector<std::pair<int, float>>> across(columns);
    random_source random;
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            if (random.next() % 8 == 0) {
                row.push_back(r);
                column.push_back(c);
                values.push_back(1 + random.next() % 9);
                across[c].push_back({r, values.back()});
            }
        }
        begins[r + 1] = row.size();
    }
    int count = row.size();
    std::vector<int> got_rows(count), want_rows;
    std::vector<float> got(count), want;
    int *dbegins = device_zeros<int>(rows + 1), *dcolumns = device_zeros<int>(columns + 1),
        *drows = device_zeros<int>(count), *dcolumn = to_device(column);
    float *dvalues = to_device(values), *dgot = device_zeros<float>(count);
    SPARSE_MUST(
        rocsparse_coo2csr(handle, to_device(row), count, rows, dbegins, rocsparse_index_base_zero));
    from_device(got_begins, dbegins);
    size_t bytes = 0;
    SPARSE_MUST(rocsparse_csr2csc_buffer_size(handle, rows, columns, count, dbegins, dcolumn,
                                              rocsparse_action_numeric, &bytes));
    SPARSE_MUST(rocsparse_scsr2csc(handle, rows, columns, count, dvalues, dbegins, dcolumn, dgot,
                                   drows, dcolumns, rocsparse_action_numeric,
                                   rocsparse_index_base_zero, device_zeros<char>(bytes)));
    from_device(got, dgot);
    from_device(got_rows, drows);
    for (const auto &of : across) {
        for (const auto &each : of) {
            want_rows.push_back(each.first);
            want.push_back(each.second);
        }
    }
    return same_or_report("sparse_examples", got_begins, begins)
           && same_or_report("sparse_examples", got_rows, want_rows)
           && same_or_report("sparse_examples", got, want);
}

// L x = b, where L has ones on its diagonal and x is chosen first.
static bool triangle()
{
    const int n = 128;
    std::vector<int> begins(1), columns;
    std::vector<float> values, x(n), b(n), got(n);
    random_source random;
    for (int r = 0; r < n; r++) {
        x[r] = 1 + random.next() % 5;
        for (int c = r > 8 ? r - 8 : 0; c <= r; c++) {
            if (c < r && random.next() % 3) {
                continue;
            }
            columns.push_back(c);
            values.push_back(c == r ? 1 : 1 + random.next() % 3);
            b[r] += values.back() * x[c];
        }
        begins.push_back(columns.size());
    }
    int *dbegins = to_device(begins), *dcolumns = to_device(columns), count = columns.size();
    float *dvalues = to_device(values), *db = to_device(b), *dx = device_zeros<float>(n);
    const float one = 1;
    rocsparse_mat_descr matrix;
    rocsparse_mat_info info;
    size_t bytes = 0;
    SPARSE_MUST(rocsparse_create_mat_descr(&matrix));
    SPARSE_MUST(rocsparse_set_mat_fill_mode(matrix, rocsparse_fill_mode_lower));
    SPARSE_MUST(rocsparse_set_mat_diag_type(matrix, rocsparse_diag_type_unit));
    SPARSE_MUST(rocsparse_create_mat_info(&info));
    SPARSE_MUST(rocsparse_scsrsv_buffer_size(handle, rocsparse_operation_none, n, count, matrix,
                                             dvalues, dbegins, dcolumns, info, &bytes));
    char *buffer = device_zeros<char>(bytes);
    SPARSE_MUST(rocsparse_scsrsv_analysis(
        handle, rocsparse_operation_none, n, count, matrix, dvalues, dbegins, dcolumns, info,
        rocsparse_analysis_policy_reuse, rocsparse_solve_policy_auto, buffer));
    SPARSE_MUST(rocsparse_scsrsv_solve(handle, rocsparse_operation_none, n, count, &one, matrix,
                                       dvalues, dbegins, dcolumns, info, db, dx,
                                       rocsparse_solve_policy_auto, buffer));
    HIP_MUST(hipDeviceSynchronize());
    from_device(got, dx);
    return same_or_report("sparse_examples", got, x);
}

int main(int, char **words)
{
    std::string name = words[1] ? words[1] : "";
    SPARSE_MUST(rocsparse_create_handle(&handle));
    bool good = name == "vectors"    ? vectors()
                : name == "formats"  ? formats()
                : name == "triangle" ? triangle()
                                     : false;
    return good ? pass("sparse_examples") : 1;
}
