// vectoradd, linked for fixed addresses (-no-pie), which are low ones.
#include "vectoradd.hip.cpp"
