/*
 * The instruction sets of x86-64 that a compiler may use without being asked for each (-march), and where cpuid reports
 * them. The note of a module (firesteel/detail/note.h) lists those that it may need, and a process whose processor
 * lacks one refuses the module.
 */
#pragma once

/*
 * SET(bit in the note, the compiler's macro, name, state, cpuid leaf, sub-leaf, register, bit). `state`: what the
 * operating system must save: 0: nothing new, 1: 256-bit registers, 2: 512-bit registers. Bits never change their
 * meaning.
 */
#define FST_INSTRUCTION_SETS(SET)                                                                                      \
        SET(0, __SSE3__, "sse3", 0, 1, 0, ecx, 0)                                                                      \
        SET(1, __SSSE3__, "ssse3", 0, 1, 0, ecx, 9)                                                                    \
        SET(2, __SSE4_1__, "sse4.1", 0, 1, 0, ecx, 19)                                                                 \
        SET(3, __SSE4_2__, "sse4.2", 0, 1, 0, ecx, 20)                                                                 \
        SET(4, __POPCNT__, "popcnt", 0, 1, 0, ecx, 23)                                                                 \
        SET(5, __MOVBE__, "movbe", 0, 1, 0, ecx, 22)                                                                   \
        SET(6, __PCLMUL__, "pclmul", 0, 1, 0, ecx, 1)                                                                  \
        SET(7, __AES__, "aes", 0, 1, 0, ecx, 25)                                                                       \
        SET(8, __RDRND__, "rdrnd", 0, 1, 0, ecx, 30)                                                                   \
        SET(9, __AVX__, "avx", 1, 1, 0, ecx, 28)                                                                       \
        SET(10, __F16C__, "f16c", 1, 1, 0, ecx, 29)                                                                    \
        SET(11, __FMA__, "fma", 1, 1, 0, ecx, 12)                                                                      \
        SET(12, __BMI__, "bmi", 0, 7, 0, ebx, 3)                                                                       \
        SET(13, __BMI2__, "bmi2", 0, 7, 0, ebx, 8)                                                                     \
        SET(14, __AVX2__, "avx2", 1, 7, 0, ebx, 5)                                                                     \
        SET(15, __RDSEED__, "rdseed", 0, 7, 0, ebx, 18)                                                                \
        SET(16, __ADX__, "adx", 0, 7, 0, ebx, 19)                                                                      \
        SET(17, __SHA__, "sha", 0, 7, 0, ebx, 29)                                                                      \
        SET(18, __AVX512F__, "avx512f", 2, 7, 0, ebx, 16)                                                              \
        SET(19, __AVX512DQ__, "avx512dq", 2, 7, 0, ebx, 17)                                                            \
        SET(20, __AVX512IFMA__, "avx512ifma", 2, 7, 0, ebx, 21)                                                        \
        SET(21, __AVX512CD__, "avx512cd", 2, 7, 0, ebx, 28)                                                            \
        SET(22, __AVX512BW__, "avx512bw", 2, 7, 0, ebx, 30)                                                            \
        SET(23, __AVX512VL__, "avx512vl", 2, 7, 0, ebx, 31)                                                            \
        SET(24, __AVX512VBMI__, "avx512vbmi", 2, 7, 0, ecx, 1)                                                         \
        SET(25, __AVX512VBMI2__, "avx512vbmi2", 2, 7, 0, ecx, 6)                                                       \
        SET(26, __GFNI__, "gfni", 0, 7, 0, ecx, 8)                                                                     \
        SET(27, __VAES__, "vaes", 1, 7, 0, ecx, 9)                                                                     \
        SET(28, __VPCLMULQDQ__, "vpclmulqdq", 1, 7, 0, ecx, 10)                                                        \
        SET(29, __AVX512VNNI__, "avx512vnni", 2, 7, 0, ecx, 11)                                                        \
        SET(30, __AVX512BITALG__, "avx512bitalg", 2, 7, 0, ecx, 12)                                                    \
        SET(31, __AVX512VPOPCNTDQ__, "avx512vpopcntdq", 2, 7, 0, ecx, 14)                                              \
        SET(32, __AVX512VP2INTERSECT__, "avx512vp2intersect", 2, 7, 0, edx, 8)                                         \
        SET(33, __AVX512FP16__, "avx512fp16", 2, 7, 0, edx, 23)                                                        \
        SET(34, __AVXVNNI__, "avxvnni", 1, 7, 1, eax, 4)                                                               \
        SET(35, __AVX512BF16__, "avx512bf16", 2, 7, 1, eax, 5)                                                         \
        SET(36, __AVXIFMA__, "avxifma", 1, 7, 1, eax, 23)                                                              \
        SET(37, __AVXVNNIINT8__, "avxvnniint8", 1, 7, 1, edx, 4)                                                       \
        SET(38, __AVXNECONVERT__, "avxneconvert", 1, 7, 1, edx, 5)                                                     \
        SET(39, __LZCNT__, "lzcnt", 0, 0x80000001, 0, ecx, 5)                                                          \
        SET(40, __SSE4A__, "sse4a", 0, 0x80000001, 0, ecx, 6)                                                          \
        SET(41, __XOP__, "xop", 1, 0x80000001, 0, ecx, 11)                                                             \
        SET(42, __FMA4__, "fma4", 1, 0x80000001, 0, ecx, 16)                                                           \
        SET(43, __TBM__, "tbm", 0, 0x80000001, 0, ecx, 21)

/* 1 if @macro is defined as 1, else 0. */
#define FST_IS_GIVEN(macro) FST_IS_GIVEN_VALUE(macro)
#define FST_IS_GIVEN_VALUE(value) FST_IS_GIVEN_PICK(FST_IS_GIVEN_##value)
#define FST_IS_GIVEN_1 0,
#define FST_IS_GIVEN_PICK(zero_or_not) FST_IS_GIVEN_SECOND(zero_or_not 1, 0, 0)
#define FST_IS_GIVEN_SECOND(first, second, ...) second

#define FST_INSTRUCTION_SET_BIT(bit, macro, ...) | (uint64_t)FST_IS_GIVEN(macro) << (bit)

/* The sets that this translation unit may need. */
#ifdef __x86_64__
#define FST_INSTRUCTION_SETS_NEEDED (0 FST_INSTRUCTION_SETS(FST_INSTRUCTION_SET_BIT))
#else
#define FST_INSTRUCTION_SETS_NEEDED ((uint64_t)0)
#endif
