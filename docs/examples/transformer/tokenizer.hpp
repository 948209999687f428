// Words of tokens: a tokenizer.bin of the small-stories models. It has the length of the longest
// token, then a score, a length and the bytes of each. Text becomes tokens by joining the pair of
// neighbours whose joint token has the highest score, until there is none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <unordered_map>
#include <vector>

#include "checkpoint.hpp"

class tokenizer
{
  public:
    tokenizer(const mapped_file &file, int vocabulary)
    {
        file_reader in{file};
        in.get<int32_t>();
        for (int token = 0; token < vocabulary; token++) {
            float score = in.get<float>();
            int32_t length = in.get<int32_t>();
            if (length < 0) {
                fail("%s: token %d has %d bytes", file.name, token, length);
            }
            words.emplace_back(reinterpret_cast<const char *>(in.take(length)), length);
            scores.push_back(score);
            numbers.emplace(words.back(), token); // of equal words the first
        }
    }

    std::vector<int> tokens(const std::string &text) const
    {
        std::vector<int> all = {begin_of_text};
        std::string spaced = " " + text;
        for (size_t at = 0, next; at < spaced.size(); at = next) {
            next = at + 1; // of a character of UTF-8
            while (next < spaced.size() && (spaced[next] & 0xc0) == 0x80) {
                next++;
            }
            add_character(all, spaced.substr(at, next - at));
        }
        while (join_best(all)) {
        }
        return all;
    }

    std::string text(const std::vector<int> &tokens) const
    {
        std::string all;
        for (size_t i = 0; i < tokens.size(); i++) {
            const std::string &word = words[tokens[i]];
            unsigned byte;
            char end;
            if (tokens[i] == begin_of_text) {
                continue;
            } else if (std::sscanf(word.c_str(), "<0x%02X%c", &byte, &end) == 2 && end == '>') {
                all += static_cast<char>(byte);
            } else {
                all += word.substr(i == 1 && word[0] == ' ' ? 1 : 0);
            }
        }
        return all;
    }

  private:
    static constexpr int begin_of_text = 1, first_byte = 3;
    std::vector<std::string> words;
    std::vector<float> scores;
    std::unordered_map<std::string, int> numbers;

    // A character that is no token goes in as its bytes.
    void add_character(std::vector<int> &all, const std::string &character) const
    {
        auto found = numbers.find(character);
        if (found != numbers.end()) {
            all.push_back(found->second);
            return;
        }
        for (unsigned char byte : character) {
            int token = first_byte + byte;
            if (token >= static_cast<int>(words.size())) {
                fail("the tokenizer has no token for the byte %d", byte);
            }
            all.push_back(token);
        }
    }

    bool join_best(std::vector<int> &all) const
    {
        size_t where = 0;
        int best = -1;
        for (size_t i = 0; i + 1 < all.size(); i++) {
            auto found = numbers.find(words[all[i]] + words[all[i + 1]]);
            if (found != numbers.end() && (best < 0 || scores[found->second] > scores[best])) {
                where = i;
                best = found->second;
            }
        }
        if (best >= 0) {
            all[where] = best;
            all.erase(all.begin() + where + 1);
        }
        return best >= 0;
    }
};
