/* The toolkit's version, as stamped into statistics. */
#ifndef HEDDLE_RUNTIME_ENGINE_VERSION_H
#define HEDDLE_RUNTIME_ENGINE_VERSION_H

#define HEDDLE_VERSION "0.2.0"

#endif
