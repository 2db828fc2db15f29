#pragma once
#include <systemd/sd-daemon.h>
/* The functions themselves: the macros of the same names add where in C they were called. */
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>
