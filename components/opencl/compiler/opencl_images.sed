# The text of opencl_images.cl as a string of C.
1i\
#include "components/opencl/compiler/opencl_images.h"\
const char opencl_images[] =
s/[\\"]/\\&/g
s/.*/    "&\\n"/
$a\
    ;
