/* Sections of code: of a relocatable object, of a linked one, of damaged ones. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "components/amd/isa/object/code_sections.h"

#include "objects.h"

Test(code_sections, are_the_code_of_an_object_that_is_not_linked)
{
    size_t size, linked_size;
    unsigned char *bytes = objects_read("v5.o", &size);
    unsigned char *linked = objects_read("v5.hsaco", &linked_size);
    struct code_sections sections, of_linked;
    cr_assert(code_sections_read(&sections, bytes, size), "%s", sections.error);
    cr_assert(code_sections_read(&of_linked, linked, linked_size), "%s", of_linked.error);
    cr_expect_str_eq(sections.target.gfx, "gfx803");
    cr_assert_eq(sections.count, 1);
    cr_expect_str_eq(sections.sections[0].name, ".text");
    cr_expect_eq(sections.sections[0].address, 0);
    cr_assert_eq(of_linked.count, 1);
    cr_expect_gt(of_linked.sections[0].address, 0);
    cr_expect_eq(of_linked.sections[0].size, sections.sections[0].size);
    code_sections_release(&sections);
    code_sections_release(&of_linked);
    free(bytes);
    free(linked);
}

Test(code_sections, stay_inside_of_damaged_files)
{
    size_t size;
    unsigned char *bytes = objects_read("v5.o", &size);
    unsigned refused = 0;
    for (size_t at = 0; at < size; at += at < 64 ? 1 : 37) {
        unsigned char before = bytes[at];
        struct code_sections sections;
        bytes[at] ^= 0xff;
        if (!code_sections_read(&sections, bytes, size - at / 2))
            refused += sections.error[0] != '\0';
        for (size_t i = 0; i < sections.count; i++)
            cr_assert(
                sections.sections[i].bytes >= bytes && sections.sections[i].size <= size - at / 2
                && sections.sections[i].bytes + sections.sections[i].size <= bytes + size - at / 2);
        code_sections_release(&sections);
        bytes[at] = before;
    }
    cr_expect_gt(refused, 20);
    free(bytes);
}
