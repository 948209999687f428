/* Fetches from textures, and accesses to surfaces, by their objects, as the CUDA C++ Programming
 * Guide lists them ("Texture Functions", "Surface Functions"): own definitions over instructions.
 * Mipmaps, gradients, and layers of surfaces are not there. */
#ifndef HEDDLE_CUDA_DEVICE_TEXTURES_H
#define HEDDLE_CUDA_DEVICE_TEXTURES_H

#define HEDDLE_TEXTURE static __device__ __forceinline__

/* Coordinates of one to three directions: as parameters, arguments, operands, and in the text. */
#define HEDDLE_TAKE_1(type)     type x
#define HEDDLE_TAKE_2(type)     type x, type y
#define HEDDLE_TAKE_3(type)     type x, type y, type z
#define HEDDLE_TAKE_L1(type)    type x, int layer
#define HEDDLE_TAKE_L2(type)    type x, type y, int layer
#define HEDDLE_TAKE_L3(type)    type x, type y, type z, int layer
#define HEDDLE_GIVE_1           x
#define HEDDLE_GIVE_2           x, y
#define HEDDLE_GIVE_3           x, y, z
#define HEDDLE_GIVE_L1          x, layer
#define HEDDLE_GIVE_L2          x, y, layer
#define HEDDLE_GIVE_L3          x, y, z, layer
#define HEDDLE_INPUT_1(letter)  [o] "l"(object), [x] letter(x)
#define HEDDLE_INPUT_2(letter)  HEDDLE_INPUT_1(letter), [y] letter(y)
#define HEDDLE_INPUT_3(letter)  HEDDLE_INPUT_2(letter), [z] letter(z)
#define HEDDLE_INPUT_L1(letter) HEDDLE_INPUT_1(letter), [l] "r"(layer)
#define HEDDLE_INPUT_L2(letter) HEDDLE_INPUT_2(letter), [l] "r"(layer)
#define HEDDLE_INPUT_L3(letter) HEDDLE_INPUT_3(letter), [l] "r"(layer)
#define HEDDLE_PLACE_1          "[%[o], {%[x]}]"
#define HEDDLE_PLACE_2          "[%[o], {%[x], %[y]}]"
#define HEDDLE_PLACE_3          "[%[o], {%[x], %[y], %[z], %[z]}]"
#define HEDDLE_PLACE_L1         "[%[o], {%[l], %[x]}]"
#define HEDDLE_PLACE_L2         "[%[o], {%[l], %[x], %[y], %[y]}]"
#define HEDDLE_PLACE_L3         "[%[o], {%[l], %[x], %[y], %[z]}]"

namespace heddle
{
/* The channels of T, and the form in which the instruction gives them. */
template <typename T> struct channel_of;
#define HEDDLE_CHANNEL(type, channel_, word_)                                                      \
    template <> struct channel_of<type> {                                                          \
        using channel = channel_;                                                                  \
        using word = word_;                                                                        \
    };
#define HEDDLE_CHANNELS(scalar, name, word)                                                        \
    HEDDLE_CHANNEL(scalar, scalar, word)                                                           \
    HEDDLE_CHANNEL(name##1, scalar, word)                                                          \
    HEDDLE_CHANNEL(name##2, scalar, word)                                                          \
    HEDDLE_CHANNEL(name##4, scalar, word)
HEDDLE_CHANNELS(signed char, char, int)
HEDDLE_CHANNELS(unsigned char, uchar, unsigned int)
HEDDLE_CHANNELS(short, short, int)
HEDDLE_CHANNELS(unsigned short, ushort, unsigned int)
HEDDLE_CHANNELS(int, int, int)
HEDDLE_CHANNELS(unsigned int, uint, unsigned int)
HEDDLE_CHANNELS(float, float, float)
HEDDLE_CHANNEL(char, char, int)
#undef HEDDLE_CHANNELS
#undef HEDDLE_CHANNEL

template <typename T, typename Word> HEDDLE_TEXTURE T texel(const Word words[4])
{
    typename channel_of<T>::channel channels[4];
    for (int i = 0; i < 4; i++)
        channels[i] = (typename channel_of<T>::channel)words[i];
    T result;
    __builtin_memcpy(&result, channels, sizeof result);
    return result;
}

#define HEDDLE_FETCH_AS(name, form, n, type, letter, word, mark)                                   \
    HEDDLE_TEXTURE void name(word *r, unsigned long long object, HEDDLE_TAKE_##n(type))            \
    {                                                                                              \
        asm volatile(form " {%0, %1, %2, %3}, " HEDDLE_PLACE_##n ";"                               \
                     : "=" mark(r[0]), "=" mark(r[1]), "=" mark(r[2]), "=" mark(r[3])              \
                     : HEDDLE_INPUT_##n(letter));                                                  \
    }
#define HEDDLE_FETCH(name, instruction, n, type, letter, coordinates)                              \
    HEDDLE_FETCH_AS(name, instruction ".v4.s32." coordinates, n, type, letter, int, "r")           \
    HEDDLE_FETCH_AS(name, instruction ".v4.u32." coordinates, n, type, letter, unsigned int, "r")  \
    HEDDLE_FETCH_AS(name, instruction ".v4.f32." coordinates, n, type, letter, float, "f")
HEDDLE_FETCH(fetch_number, "tex.1d", 1, int, "r", "s32")
HEDDLE_FETCH(fetch_1, "tex.1d", 1, float, "f", "f32")
HEDDLE_FETCH(fetch_2, "tex.2d", 2, float, "f", "f32")
HEDDLE_FETCH(fetch_3, "tex.3d", 3, float, "f", "f32")
HEDDLE_FETCH(fetch_l1, "tex.a1d", L1, float, "f", "f32")
HEDDLE_FETCH(fetch_l2, "tex.a2d", L2, float, "f", "f32")
HEDDLE_FETCH(fetch_cube, "tex.cube", 3, float, "f", "f32")
HEDDLE_FETCH(fetch_cubes, "tex.acube", L3, float, "f", "f32")
HEDDLE_FETCH(gather_0, "tld4.r.2d", 2, float, "f", "f32")
HEDDLE_FETCH(gather_1, "tld4.g.2d", 2, float, "f", "f32")
HEDDLE_FETCH(gather_2, "tld4.b.2d", 2, float, "f", "f32")
HEDDLE_FETCH(gather_3, "tld4.a.2d", 2, float, "f", "f32")
#undef HEDDLE_FETCH
#undef HEDDLE_FETCH_AS
} // namespace heddle

#define HEDDLE_FETCHES(name, fetch, n, type)                                                       \
    template <typename T> HEDDLE_TEXTURE T name(cudaTextureObject_t object, HEDDLE_TAKE_##n(type)) \
    {                                                                                              \
        typename heddle::channel_of<T>::word words[4];                                             \
        heddle::fetch(words, object, HEDDLE_GIVE_##n);                                             \
        return heddle::texel<T>(words);                                                            \
    }                                                                                              \
    template <typename T>                                                                          \
    HEDDLE_TEXTURE void name(T *to, cudaTextureObject_t object, HEDDLE_TAKE_##n(type))             \
    {                                                                                              \
        *to = name<T>(object, HEDDLE_GIVE_##n);                                                    \
    }
HEDDLE_FETCHES(tex1Dfetch, fetch_number, 1, int)
HEDDLE_FETCHES(tex1D, fetch_1, 1, float)
HEDDLE_FETCHES(tex2D, fetch_2, 2, float)
HEDDLE_FETCHES(tex3D, fetch_3, 3, float)
HEDDLE_FETCHES(tex1DLayered, fetch_l1, L1, float)
HEDDLE_FETCHES(tex2DLayered, fetch_l2, L2, float)
HEDDLE_FETCHES(texCubemap, fetch_cube, 3, float)
HEDDLE_FETCHES(texCubemapLayered, fetch_cubes, L3, float)
#undef HEDDLE_FETCHES
/* Without mipmaps there is one level. */
template <typename T> HEDDLE_TEXTURE T tex1DLod(cudaTextureObject_t object, float x, float)
{
    return tex1D<T>(object, x);
}
template <typename T> HEDDLE_TEXTURE T tex2DLod(cudaTextureObject_t object, float x, float y, float)
{
    return tex2D<T>(object, x, y);
}
template <typename T>
HEDDLE_TEXTURE T tex3DLod(cudaTextureObject_t object, float x, float y, float z, float)
{
    return tex3D<T>(object, x, y, z);
}
template <typename T>
HEDDLE_TEXTURE T tex2Dgather(cudaTextureObject_t object, float x, float y, int component = 0)
{
    typename heddle::channel_of<T>::word words[4];
    if (component == 0)
        heddle::gather_0(words, object, x, y);
    else if (component == 1)
        heddle::gather_1(words, object, x, y);
    else if (component == 2)
        heddle::gather_2(words, object, x, y);
    else
        heddle::gather_3(words, object, x, y);
    return heddle::texel<T>(words);
}

/* ---- surfaces: x counts bytes ---- */

namespace heddle
{
struct quad {
    unsigned int word[4];
};
/* A type that holds 1, 2, 4, 8 or 16 bytes; a register has 16 bits at least. */
template <int Bytes> struct surface_word;
#define HEDDLE_WORD(bytes, word)                                                                   \
    template <> struct surface_word<bytes> {                                                       \
        using type = word;                                                                         \
    };
HEDDLE_WORD(1, unsigned short)
HEDDLE_WORD(2, unsigned short)
HEDDLE_WORD(4, unsigned int)
HEDDLE_WORD(8, unsigned long long)
HEDDLE_WORD(16, quad)
#undef HEDDLE_WORD

template <cudaSurfaceBoundaryMode Mode, int Bytes> struct surface;
#define HEDDLE_ACCESS(geometry, n, bits, mode, word, letter)                                       \
    HEDDLE_TEXTURE void load(word &v, unsigned long long object, HEDDLE_TAKE_##n(int))             \
    {                                                                                              \
        asm volatile("suld.b." geometry "." bits "." mode " %0, " HEDDLE_PLACE_##n ";"             \
                     : "=" letter(v)                                                               \
                     : HEDDLE_INPUT_##n("r")                                                       \
                     : "memory");                                                                  \
    }                                                                                              \
    HEDDLE_TEXTURE void store(word v, unsigned long long object, HEDDLE_TAKE_##n(int))             \
    {                                                                                              \
        asm volatile("sust.b." geometry "." bits "." mode " " HEDDLE_PLACE_##n ", %[v];"           \
                     :                                                                             \
                     : [v] letter(v), HEDDLE_INPUT_##n("r")                                        \
                     : "memory");                                                                  \
    }
#define HEDDLE_ACCESS_QUAD(geometry, n, mode)                                                      \
    HEDDLE_TEXTURE void load(quad &v, unsigned long long object, HEDDLE_TAKE_##n(int))             \
    {                                                                                              \
        asm volatile("suld.b." geometry ".v4.b32." mode " {%0, %1, %2, %3}, " HEDDLE_PLACE_##n ";" \
                     : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])          \
                     : HEDDLE_INPUT_##n("r")                                                       \
                     : "memory");                                                                  \
    }                                                                                              \
    HEDDLE_TEXTURE void store(quad v, unsigned long long object, HEDDLE_TAKE_##n(int))             \
    {                                                                                              \
        asm volatile(                                                                              \
            "sust.b." geometry ".v4.b32." mode " " HEDDLE_PLACE_##n ", {%[a], %[b], %[c], %[d]};"  \
            :                                                                                      \
            : [a] "r"(v.word[0]), [b] "r"(v.word[1]), [c] "r"(v.word[2]), [d] "r"(v.word[3]),      \
              HEDDLE_INPUT_##n("r")                                                                \
            : "memory");                                                                           \
    }
#define HEDDLE_SURFACE_WORD(mode, text, bytes, bits, word, letter)                                 \
    template <> struct surface<mode, bytes> {                                                      \
        HEDDLE_ACCESS("1d", 1, bits, text, word, letter)                                           \
        HEDDLE_ACCESS("2d", 2, bits, text, word, letter)                                           \
        HEDDLE_ACCESS("3d", 3, bits, text, word, letter)                                           \
    };
#define HEDDLE_SURFACE(mode, text)                                                                 \
    HEDDLE_SURFACE_WORD(mode, text, 1, "b8", unsigned short, "h")                                  \
    HEDDLE_SURFACE_WORD(mode, text, 2, "b16", unsigned short, "h")                                 \
    HEDDLE_SURFACE_WORD(mode, text, 4, "b32", unsigned int, "r")                                   \
    HEDDLE_SURFACE_WORD(mode, text, 8, "b64", unsigned long long, "l")                             \
    template <> struct surface<mode, 16> {                                                         \
        HEDDLE_ACCESS_QUAD("1d", 1, text)                                                          \
        HEDDLE_ACCESS_QUAD("2d", 2, text)                                                          \
        HEDDLE_ACCESS_QUAD("3d", 3, text)                                                          \
    };
HEDDLE_SURFACE(cudaBoundaryModeZero, "zero")
HEDDLE_SURFACE(cudaBoundaryModeClamp, "clamp")
HEDDLE_SURFACE(cudaBoundaryModeTrap, "trap")
#undef HEDDLE_SURFACE
#undef HEDDLE_SURFACE_WORD
#undef HEDDLE_ACCESS_QUAD
#undef HEDDLE_ACCESS

/* The mode is a constant once this is inlined. */
template <int Bytes, typename Word, typename... At>
HEDDLE_TEXTURE void load(cudaSurfaceBoundaryMode mode, Word &v, unsigned long long object, At... at)
{
    if (mode == cudaBoundaryModeZero)
        surface<cudaBoundaryModeZero, Bytes>::load(v, object, at...);
    else if (mode == cudaBoundaryModeClamp)
        surface<cudaBoundaryModeClamp, Bytes>::load(v, object, at...);
    else
        surface<cudaBoundaryModeTrap, Bytes>::load(v, object, at...);
}
template <int Bytes, typename Word, typename... At>
HEDDLE_TEXTURE void store(cudaSurfaceBoundaryMode mode, Word v, unsigned long long object, At... at)
{
    if (mode == cudaBoundaryModeZero)
        surface<cudaBoundaryModeZero, Bytes>::store(v, object, at...);
    else if (mode == cudaBoundaryModeClamp)
        surface<cudaBoundaryModeClamp, Bytes>::store(v, object, at...);
    else
        surface<cudaBoundaryModeTrap, Bytes>::store(v, object, at...);
}
} // namespace heddle

#define HEDDLE_SURFACES(read, write, n)                                                            \
    template <typename T>                                                                          \
    HEDDLE_TEXTURE T read(cudaSurfaceObject_t object, HEDDLE_TAKE_##n(int),                        \
                          cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                     \
    {                                                                                              \
        typename heddle::surface_word<sizeof(T)>::type word;                                       \
        heddle::load<sizeof(T)>(mode, word, object, HEDDLE_GIVE_##n);                              \
        T result;                                                                                  \
        __builtin_memcpy(&result, &word, sizeof result);                                           \
        return result;                                                                             \
    }                                                                                              \
    template <typename T>                                                                          \
    HEDDLE_TEXTURE void read(T *to, cudaSurfaceObject_t object, HEDDLE_TAKE_##n(int),              \
                             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                  \
    {                                                                                              \
        *to = read<T>(object, HEDDLE_GIVE_##n, mode);                                              \
    }                                                                                              \
    template <typename T>                                                                          \
    HEDDLE_TEXTURE void write(T value, cudaSurfaceObject_t object, HEDDLE_TAKE_##n(int),           \
                              cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                 \
    {                                                                                              \
        typename heddle::surface_word<sizeof(T)>::type word{};                                     \
        __builtin_memcpy(&word, &value, sizeof value);                                             \
        heddle::store<sizeof(T)>(mode, word, object, HEDDLE_GIVE_##n);                             \
    }
HEDDLE_SURFACES(surf1Dread, surf1Dwrite, 1)
HEDDLE_SURFACES(surf2Dread, surf2Dwrite, 2)
HEDDLE_SURFACES(surf3Dread, surf3Dwrite, 3)
#undef HEDDLE_SURFACES

#undef HEDDLE_TAKE_L1
#undef HEDDLE_TAKE_L2
#undef HEDDLE_TAKE_L3
#undef HEDDLE_GIVE_L1
#undef HEDDLE_GIVE_L2
#undef HEDDLE_GIVE_L3
#undef HEDDLE_INPUT_L1
#undef HEDDLE_INPUT_L2
#undef HEDDLE_INPUT_L3
#undef HEDDLE_PLACE_L1
#undef HEDDLE_PLACE_L2
#undef HEDDLE_PLACE_L3
#undef HEDDLE_TAKE_1
#undef HEDDLE_TAKE_2
#undef HEDDLE_TAKE_3
#undef HEDDLE_GIVE_1
#undef HEDDLE_GIVE_2
#undef HEDDLE_GIVE_3
#undef HEDDLE_INPUT_1
#undef HEDDLE_INPUT_2
#undef HEDDLE_INPUT_3
#undef HEDDLE_PLACE_1
#undef HEDDLE_PLACE_2
#undef HEDDLE_PLACE_3
#undef HEDDLE_TEXTURE

#endif
