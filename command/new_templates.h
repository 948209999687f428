/* The texts of `heddle new`. "@NAME@" stands for the name; no other @ may occur. */
#ifndef HEDDLE_COMMAND_NEW_TEMPLATES_H
#define HEDDLE_COMMAND_NEW_TEMPLATES_H

extern const char new_component_heddle[];
extern const char new_component_c[];
extern const char new_component_test[];
extern const char new_platform_heddle[];
extern const char new_part_heddle[];
extern const char new_part_c[];
extern const char new_part_test[];

#endif
