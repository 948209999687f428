/* Messages of the library and of the server for the user. */
#ifndef HEDDLE_COMPONENTS_KFD_CHANNEL_KFD_STDERR_H
#define HEDDLE_COMPONENTS_KFD_CHANNEL_KFD_STDERR_H

/* A message on stderr, "heddle: " in front. Any thread. */
__attribute__((format(printf, 1, 2))) void kfd_say(const char *format, ...);

#endif
