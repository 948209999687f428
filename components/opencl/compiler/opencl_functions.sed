# The text of opencl_functions.cl as a string of C.
1i\
#include "components/opencl/compiler/opencl_functions.h"\
const char opencl_functions[] =
s/[\\"]/\\&/g
s/.*/    "&\\n"/
$a\
    ;
