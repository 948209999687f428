/* libFuzzer target of the packets' decoder (components/packets/packet): whatever bytes come,
 * nothing behind them is read, and what is accepted encodes to the same bytes again.
 *
 * Input: the layout (0: api_request, 1: api_answer), then the packet. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "components/packets/api_packet/api_answer.h"
#include "components/packets/api_packet/api_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "fuzz_packet: %s\n", what);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static union {
        struct api_request request;
        struct api_answer answer;
    } packet;
    static uint8_t again[API_REQUEST_BYTES_MAX + API_ANSWER_BYTES_MAX];
    struct packet_fault fault;
    char text[256];
    if (size == 0)
        return 0;
    const struct packet_layout *layout = bytes[0] & 1 ? &api_answer_layout : &api_request_layout;
    uint8_t *exact = malloc(size - 1); /* so that a byte too many is seen */
    memcpy(exact, bytes + 1, size - 1);
    size_t length = packet_decode(layout, &packet, exact, size - 1, &fault);
    packet_fault_text(&fault, text, sizeof text);
    must((length > 0) == (fault.error == PACKET_FINE), "the fault does not fit the result");
    if (length > 0) {
        must(length <= size - 1, "more was read than there is");
        size_t made = packet_encode(layout, &packet, again, sizeof again, &fault);
        must(made == length && memcmp(exact, again, length) == 0, "it encodes to other bytes");
    }
    free(exact);
    return 0;
}
