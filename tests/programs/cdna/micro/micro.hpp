// What the micro-benchmarks of this folder share. They are called as tables of measurements name them:
//   NAME VALUE [KEY=VALUE[;KEY=VALUE]...]... [--iterations N] [--check]
// VALUE is the parameter that a table varies, and the keys are its fixed ones. They print `NAME VALUE MILLISECONDS` as
// ../label.hpp says; a key that a program does not know is an error that names those it knows.
#pragma once

#include "../label.hpp"

#include <map>

struct micro : label {
    std::map<std::string, std::string> keys;

    [[noreturn]] void refuse(const std::string &why) const
    {
        label_refuse(name, why);
    }
    const std::string &text(const char *key) const
    {
        return keys.at(key);
    }
    // The value of a key as a number from 1 to `most`.
    size_t number(const char *key, size_t most = size_t(1) << 31) const
    {
        return label_number(name, text(key).c_str(), most);
    }
    // Which of the words a key is.
    size_t one_of(const char *key, const std::vector<std::string> &words) const
    {
        std::string all;
        for (size_t i = 0; i < words.size(); i++) {
            if (words[i] == text(key)) {
                return i;
            }
            all += (i > 0 ? ", " : "") + words[i];
        }
        refuse(std::string(key) + " is one of: " + all);
    }
    int verdict(bool good) const
    {
        if (!good) {
            std::printf("FAIL %s: the result is wrong\n", name.c_str());
        }
        return good ? pass(name.c_str()) : 1;
    }
};

static inline void micro_set(micro &m, const std::string &pair)
{
    size_t equals = pair.find('=');
    auto key = m.keys.find(pair.substr(0, equals));
    if (equals == std::string::npos || key == m.keys.end()) {
        std::string all;
        for (const auto &known : m.keys) {
            all += " " + known.first + "=" + known.second;
        }
        m.refuse("'" + pair + "' is none of:" + all);
    }
    key->second = pair.substr(equals + 1);
}

// `keys` holds each key's value where the call names none.
static inline micro micro_arguments(int argc, char **argv, const char *name, size_t most,
                                    std::map<std::string, std::string> keys)
{
    micro m;
    m.keys = std::move(keys);
    m.name = name;
    std::vector<char *> rest = {argv[0]};
    for (int i = 1; i < argc; i++) {
        std::string argument = argv[i];
        if (argument.find('=') == std::string::npos) {
            rest.push_back(argv[i]);
            continue;
        }
        for (size_t from = 0; from <= argument.size();) {
            size_t to = std::min(argument.find(';', from), argument.size());
            if (to > from) {
                micro_set(m, argument.substr(from, to - from));
            }
            from = to + 1;
        }
    }
    static_cast<label &>(m) = label_arguments(int(rest.size()), rest.data(), name, 1, most);
    return m;
}

static inline unsigned micro_cus()
{
    hipDeviceProp_t properties;
    HIP_MUST(hipGetDeviceProperties(&properties, 0));
    return unsigned(properties.multiProcessorCount);
}
