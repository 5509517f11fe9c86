/*
 * Included before every file of unit tests: `main` is another function's name there (src/meson.build), and wants to be
 * declared.
 */
#pragma once

int main(void);
