// vectoradd, linked for fixed addresses (-no-pie): low ones, which the simulator would like to have itself.
#include "vectoradd.hip.cpp"
