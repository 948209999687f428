// A transformer of Llama's kind, from a prompt to tokens: arguments, and what is printed.
// `transformer --help` lists the arguments, README.md says which file has what.
#include <cerrno>

#include "model.hpp"
#include "tokenizer.hpp"

struct options {
    std::string shape = "tiny", type = "fp32", prompt, logits;
    const char *model = nullptr, *tokenizer = nullptr;
    uint64_t seed = 1;
    int tokens = 8, prompt_tokens = 4, gpus = 1;
};

template <typename W>
static int generate(const options &o, const weight_source &source, tokenizer *words,
                    std::vector<int> tokens)
{
    int prompt = static_cast<int>(tokens.size()), end = prompt + o.tokens;
    transformer<W> model(source, o.gpus, prompt);
    model.set_tokens(tokens);
    FILE *logits = o.logits.empty() ? nullptr : std::fopen(o.logits.c_str(), "wb");
    if (!o.logits.empty() && logits == nullptr) {
        fail("%s: cannot be written", o.logits.c_str());
    }
    hipEvent_t begin, prefilled, done;
    HIP_MUST(hipSetDevice(0));
    for (hipEvent_t *event : {&begin, &prefilled, &done}) {
        HIP_MUST(hipEventCreate(event));
    }
    HIP_MUST(hipEventRecord(begin, model.first_stream()));
    for (int at = prompt; at < end; at++) {
        model.step(at == prompt ? 0 : at - 1, at == prompt ? prompt : 1);
        if (logits != nullptr) {
            std::vector<float> all = model.get_logits();
            std::fwrite(all.data(), sizeof(float), all.size(), logits);
        }
        if (at == prompt) {
            HIP_MUST(hipSetDevice(0));
            HIP_MUST(hipEventRecord(prefilled, model.first_stream()));
        }
    }
    HIP_MUST(hipSetDevice(0));
    HIP_MUST(hipEventRecord(done, model.first_stream()));
    tokens = model.get_tokens(end);
    if (logits != nullptr && std::fclose(logits) != 0) {
        fail("%s: cannot be written", o.logits.c_str());
    }
    float prefill, decode;
    HIP_MUST(hipEventElapsedTime(&prefill, begin, prefilled));
    HIP_MUST(hipEventElapsedTime(&decode, prefilled, done));
    for (hipEvent_t event : {begin, prefilled, done}) {
        HIP_MUST(hipEventDestroy(event));
    }
    if (words != nullptr) {
        std::printf("text: %s\n", words->text(tokens).c_str());
    }
    std::printf("tokens:");
    for (int token : tokens) {
        std::printf(" %d", token);
    }
    std::printf("\nprefill of %d tokens: %.1f us\n", prompt, prefill * 1000);
    if (o.tokens > 1) {
        std::printf("decode: %.1f us a token\n", decode * 1000 / (o.tokens - 1));
    }
    return 0;
}

// A name, or the seven numbers of a checkpoint's header.
static model_shape shape_of(const std::string &text)
{
    static const struct {
        const char *name;
        model_shape shape;
    } known[] = {{"tiny", {64, 160, 2, 8, 4, 256, 64}},
                 {"15m", {288, 768, 6, 6, 6, 32000, 256}},
                 {"7b-layer", {4096, 11008, 1, 32, 32, 512, 256}}};
    for (const auto &one : known) {
        if (text == one.name) {
            return one.shape;
        }
    }
    model_shape of;
    char rest;
    if (std::sscanf(text.c_str(), "%d,%d,%d,%d,%d,%d,%d%c", &of.dim, &of.hidden, &of.layers,
                    &of.heads, &of.kv_heads, &of.vocabulary, &of.positions, &rest)
        != 7) {
        fail("--shape %s: neither tiny, 15m or 7b-layer nor seven numbers", text.c_str());
    }
    return of;
}

static int64_t number(const char *name, const char *text, int64_t least, int64_t most)
{
    char *end;
    errno = 0;
    int64_t value = std::strtoll(text, &end, 10);
    if (errno != 0 || *text == '\0' || *end != '\0' || value < least || value > most) {
        fail("%s %s: not a number between %ld and %ld", name, text, least, most);
    }
    return value;
}

static const char help[] =
    "transformer [ARGUMENT VALUE]...\n"
    "  --model FILE          weights: a .bin of the small-stories models, or GGUF\n"
    "  --shape NAME          weights by seed, for tiny, 15m, 7b-layer, or "
    "DIM,HIDDEN,LAYERS,HEADS,\n"
    "                        KV-HEADS,VOCABULARY,POSITIONS (tiny)\n"
    "  --seed N              the seed (1)\n"
    "  --type TYPE           what weights are kept as: fp32, fp16, bf16 or int8 (fp32)\n"
    "  --tokenizer FILE      the words of tokens, a tokenizer.bin of the small-stories models\n"
    "  --prompt TEXT         what to go on from; needs a tokenizer\n"
    "  --prompt-tokens N     else a prompt of so many tokens (4)\n"
    "  --tokens N            tokens to make (8)\n"
    "  --gpus N              GPUs that share the work (1)\n"
    "  --logits FILE         writes the logits of each token, as floats\n";

static options read_options(int argc, char **argv)
{
    options o;
    for (int i = 1; i < argc; i += 2) {
        std::string name = argv[i];
        if (name == "--help") {
            std::fputs(help, stdout);
            std::exit(0);
        }
        const char *value = i + 1 < argc ? argv[i + 1] : nullptr;
        if (value == nullptr) {
            fail("%s needs a value; see --help", name.c_str());
        } else if (name == "--model") {
            o.model = value;
        } else if (name == "--tokenizer") {
            o.tokenizer = value;
        } else if (name == "--shape") {
            o.shape = value;
        } else if (name == "--type") {
            o.type = value;
        } else if (name == "--prompt") {
            o.prompt = value;
        } else if (name == "--logits") {
            o.logits = value;
        } else if (name == "--seed") {
            o.seed = number("--seed", value, 0, INT64_MAX);
        } else if (name == "--tokens") {
            o.tokens = number("--tokens", value, 1, 1 << 20);
        } else if (name == "--prompt-tokens") {
            o.prompt_tokens = number("--prompt-tokens", value, 1, 1 << 20);
        } else if (name == "--gpus") {
            o.gpus = number("--gpus", value, 1, 64);
        } else {
            fail("%s: unknown; see --help", name.c_str());
        }
    }
    return o;
}

// The prompt's tokens: its text's, or some that the seed does not matter for.
static std::vector<int> prompt_of(const options &o, const model_shape &of, tokenizer *words)
{
    std::vector<int> tokens;
    if (!o.prompt.empty()) {
        if (words == nullptr) {
            fail("--prompt needs a --tokenizer");
        }
        tokens = words->tokens(o.prompt);
    }
    for (int i = 0; o.prompt.empty() && i < o.prompt_tokens; i++) {
        tokens.push_back(static_cast<int>((1 + 37ll * i) % of.vocabulary));
    }
    if (tokens.size() + o.tokens > static_cast<size_t>(of.positions)) {
        fail("%zu tokens and %d more: the model has %d positions", tokens.size(), o.tokens,
             of.positions);
    }
    return tokens;
}

static void check_gpus(const options &o, const model_shape &of)
{
    int there;
    HIP_MUST(hipGetDeviceCount(&there));
    if (o.gpus > there) {
        fail("--gpus %d: there are %d", o.gpus, there);
    }
    if (of.heads % o.gpus != 0 || of.hidden % o.gpus != 0 || of.vocabulary % o.gpus != 0
        || (of.kv_heads % o.gpus != 0 && o.gpus % of.kv_heads != 0)) {
        fail("--gpus %d: %d heads, %d KV heads, %d hidden values and %d words cannot be dealt to "
             "them",
             o.gpus, of.heads, of.kv_heads, of.hidden, of.vocabulary);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(const options &, const weight_source &, tokenizer *, std::vector<int>);
    } types[] = {{"fp32", generate<float>},
                 {"fp16", generate<_Float16>},
                 {"bf16", generate<bf16>},
                 {"int8", generate<int8_t>}};
    options o = read_options(argc, argv);
    std::unique_ptr<mapped_file> file;
    std::unique_ptr<weight_source> source;
    if (o.model != nullptr) {
        file = std::make_unique<mapped_file>(o.model);
        source = open_weights(*file);
    } else {
        source = std::make_unique<seeded_weights>(shape_of(o.shape), o.seed);
    }
    std::unique_ptr<tokenizer> words;
    if (o.tokenizer != nullptr) {
        words = std::make_unique<tokenizer>(mapped_file(o.tokenizer), source->shape.vocabulary);
    }
    std::vector<int> tokens = prompt_of(o, source->shape, words.get());
    for (const auto &type : types) {
        if (o.type == type.name) {
            check_gpus(o, source->shape);
            return type.run(o, *source, words.get(), tokens);
        }
    }
    fail("--type %s: neither fp32, fp16, bf16 nor int8", o.type.c_str());
}
