/**
 * The coder's fixed tables: frequency of each symbol in each context, out of 2^TABLE_BITS.
 *
 * Counted on cloths with 31, 41 and 81 particles per side that fall over spheres, two of them in wind. Recordings of
 * the scenes drape, flag-on-pole, stretched-cloth and jelly-stack were counted, too. Every trajectory has the same
 * weight per particle and frame. Compared with tables adapted to a trajectory, they lose 0.2 to 1.5 % on unseen cloths.
 * In return, no table is learned in a frame, and both sides only look up.
 */
import { ESCAPE, FIRST_SHIFTED_BIN, RESIDUAL_LIMIT, TABLE_BITS } from "./format.ts";

export const SYMBOLS = ESCAPE + 1;

/**
 * One row for each bin below FIRST_SHIFTED_BIN and each phase from 0 to 4, bin after bin, then one for even and one for
 * odd shifted bins. "first: frequencies | escape": of the residuals from `first` on, then of the escape; every other
 * residual has 1. Phases 5, 6, 7 are phases 3, 2, 1 of the mirrored residual.
 */
export const FREQUENCY_ROWS: readonly string[] = [
  "-2: 3 150 16051 150 3 | 1",
  "-1: 50 9497 6731 78 | 1",
  "0: 12284 4014 57 | 1",
  "-2: 45 88 12697 3404 116 8 | 1",
  "-2: 920 2752 10880 1659 49 98 | 1",
  "-1: 415 15524 416 | 1",
  "-1: 156 13290 2773 130 8 | 1",
  "-1: 8 11733 4583 32 | 1",
  "-2: 12 77 13274 2955 39 | 1",
  "-2: 964 4215 10115 991 5 68 | 1",
  "-2: 9 537 15264 538 9 | 1",
  "-1: 509 14010 1729 67 42 | 1",
  "-1: 49 15120 1181 1 6 | 1",
  "-2: 7 196 12623 3493 28 6 6 | 1",
  "-2: 394 7228 8109 624 2 | 1",
  "-2: 6 562 15221 562 6 | 1",
  "-2: 6 411 15141 788 6 6 | 1",
  "-2: 3 56 13537 2757 4 | 1",
  "-2: 3 168 13613 2539 33 1 2 | 1",
  "-3: 26 274 8074 7655 309 20 | 1",
  "-3: 2 13 795 14739 795 13 2 | 1",
  "-3: 5 5 824 14045 1444 30 6 | 1",
  "-2: 9 185 11696 4435 29 2 1 2 2 | 1",
  "-3: 3 5 218 12070 3997 63 2 2 | 1",
  "-5: 10 1 30 230 7808 7962 260 36 10 1 1 1 5 11 | 1",
  "-3: 3 23 1121 14064 1122 23 3 | 1",
  "-3: 4 25 1186 12707 2357 65 15 | 1",
  "-3: 4 17 478 10957 4817 79 5 1 2 2 | 1",
  "-3: 3 16 309 10843 5069 109 9 2 | 1",
  "-4: 6 18 234 7929 7908 235 24 1 3 2 2 2 | 1",
  "-4: 2 7 48 1628 12991 1628 48 7 2 | 1",
  "-4: 3 10 70 1784 10855 3467 145 22 5 | 1",
  "-4: 2 10 55 959 10034 5073 199 24 4 2 | 1",
  "-4: 2 6 40 612 9404 6006 263 23 4 2 | 1",
  "-5: 4 7 40 437 7622 7747 455 37 12 | 1",
  "-6: 2 4 11 32 175 2431 11055 2431 175 32 11 4 2 | 1",
  "-7: 2 1 3 13 37 187 2305 9358 4037 337 60 17 6 3 | 1",
  "-5: 4 11 35 162 1603 8781 5196 469 74 19 7 2 2 | 1",
  "-5: 3 7 25 123 1168 8179 6133 612 84 22 6 2 | 1",
  "-7: 2 3 9 27 95 848 7083 7294 853 112 23 11 5 | 1",
  "-8: 2 3 8 16 47 128 509 2998 8947 2998 509 128 47 16 8 3 2 | 1",
  "-8: 3 4 5 20 51 132 513 2835 7585 4149 787 187 57 26 8 4 2 2 | 1",
  "-8: 3 3 5 19 46 131 448 2280 7271 4861 971 212 79 23 8 6 2 2 | 1",
  "-7: 3 7 13 39 104 357 1875 6819 5519 1255 247 81 34 10 3 1 2 | 1",
  "-10: 2 3 3 6 13 40 104 303 1493 6141 6241 1541 328 93 37 13 6 2 1 2 | 1",
  "-11: 2 2 6 10 14 25 59 137 323 992 2998 7236 2998 992 323 137 59 25 14 10 6 2 2 | 4",
  "-12: 3 2 2 4 9 17 27 66 146 356 987 3066 5673 3884 1351 457 182 72 31 14 9 6 4 3 1 2 | 5",
  "-13: 2 2 1 3 5 9 16 31 44 142 327 870 2687 5560 4253 1555 490 206 83 39 16 12 7 5 2 2 1 2 | 9",
  "-12: 2 1 3 3 7 14 30 50 126 296 803 2362 5277 4646 1749 591 222 94 46 18 13 8 3 3 2 1 2 | 8",
  "-14: 3 1 1 4 8 9 13 24 39 105 265 648 1977 4988 5085 2042 688 263 102 49 23 18 6 7 3 3 2 | 4",
  "-15: 3 3 5 5 7 11 23 29 53 96 151 303 632 1317 2750 5601 2751 1317 632 304 151 96 53 29 23 11 7 5 5 3 3 | 5",
  "-15: 4 8 6 11 11 11 22 32 44 95 138 290 620 1358 2779 4392 3306 1669 754 381 158 110 62 33 21 15 8 9 4 7 4 | 22",
  "-14: 3 2 6 8 15 16 32 43 95 144 276 565 1218 2585 4221 3513 1816 889 408 205 131 63 31 24 18 15 9 3 1 4 | 24",
  "-15: 3 6 5 5 5 17 23 24 46 77 135 246 524 1135 2365 4150 3811 1937 911 425 211 134 60 43 18 20 10 6 4 5 4 | 19",
  "-15: 5 6 5 7 12 19 21 45 85 129 243 522 946 2171 3955 3959 2197 1011 461 258 112 74 36 28 14 10 11 8 3 6 | 24",
  "-15: 16 11 17 19 31 24 48 90 109 180 310 471 857 1429 2389 4334 2389 1429 857 471 310 180 109 90 48 24 31 19 17 11 16 | 48",
  "-15: 11 10 21 23 22 33 47 81 141 198 316 515 830 1468 2420 3330 2729 1601 924 584 352 224 140 74 65 44 31 20 19 16 14 | 81",
  "-15: 11 14 12 25 16 41 64 89 123 183 279 460 768 1322 2215 3241 2825 1861 1051 646 382 217 132 115 73 47 31 26 12 14 10 | 79",
  "-15: 7 8 19 17 25 34 44 67 119 169 270 405 724 1234 2147 3252 2949 1931 1114 679 364 232 167 96 79 57 37 24 21 14 8 | 71",
  "-15: 16 12 18 32 32 42 84 117 169 243 421 685 1226 1981 3061 3099 2014 1212 692 454 264 134 94 72 36 22 21 16 16 11 9 | 79",
  "-15: 21 31 22 60 78 76 79 128 143 248 320 429 642 955 1490 6723 1490 955 642 429 320 248 143 128 79 76 78 60 22 31 21 | 217",
  "-15: 17 25 34 51 81 92 119 143 184 272 436 637 898 1383 2048 2555 2221 1589 1029 712 452 348 233 175 102 85 67 50 44 30 20 | 252",
  "-15: 13 27 35 45 57 80 131 159 187 331 434 595 860 1318 1845 2476 2316 1627 1080 708 530 395 277 162 109 104 78 54 50 33 21 | 247",
  "-15: 29 28 54 52 65 81 107 157 195 308 449 594 818 1270 1774 2466 2290 1661 1135 781 506 395 253 194 118 108 90 56 53 23 21 | 253",
  "-15: 35 38 57 71 69 121 131 173 315 333 539 758 1232 1735 2505 2463 1758 1153 830 518 349 245 213 128 123 90 46 43 44 11 18 | 240",
  "-15: 50 47 96 101 112 155 171 206 290 397 525 715 922 1259 1578 2854 1578 1260 922 715 525 397 290 206 171 155 112 101 96 47 50 | 281",
  "-15: 61 73 80 97 101 165 191 232 358 413 476 719 923 1229 1629 1942 1660 1248 969 751 632 449 322 331 199 171 136 95 73 63 34 | 562",
  "-15: 70 65 64 90 116 142 231 241 307 396 498 698 871 1079 1529 1826 1812 1431 1031 810 575 440 365 257 225 179 136 80 65 75 59 | 621",
  "-15: 53 43 68 101 132 147 189 271 304 445 503 599 852 1220 1413 1791 1865 1395 1035 777 607 476 350 308 226 140 152 86 85 72 52 | 627",
  "-15: 63 70 105 98 191 140 219 323 383 469 657 872 1138 1427 1835 1763 1519 1020 781 590 465 391 343 239 143 174 99 75 67 50 60 | 615",
  "-15: 26 30 33 51 73 85 132 189 232 333 496 691 1027 1637 2594 2960 1813 1190 773 520 358 261 182 135 100 83 52 41 32 21 17 | 217",
  "-15: 63 74 69 91 121 151 195 259 323 383 580 757 1040 1420 2104 2335 1546 1152 799 575 435 345 252 185 150 129 105 85 57 52 42 | 510",
];
const PHASE_ROWS = 5;

/** Context of a body's flag: symbol 0, same as the previous body; 1, different. */
export const FLAG_CONTEXT = 8 * FIRST_SHIFTED_BIN + 2;
const FLAG_FREQUENCY = [14336, 2048] as const;
const CONTEXTS = FLAG_CONTEXT + 1;

/** uint16[CONTEXTS * SYMBOLS]; columns: residual -15 to 15, escape. */
export const FREQUENCY = new Uint16Array(CONTEXTS * SYMBOLS).fill(1);

function fillContext(context: number, row: string, mirrored: boolean): void {
  const [first, frequencies, escapeFrequency] = row.split(/: | \| /) as [string, string, string];
  frequencies.split(" ").forEach((frequency, n) => {
    const residual = Number(first) + n;
    FREQUENCY[context * SYMBOLS + RESIDUAL_LIMIT + (mirrored ? -residual : residual)] = Number(frequency);
  });
  FREQUENCY[context * SYMBOLS + ESCAPE] = Number(escapeFrequency);
}

for (let context = 0; context < 8 * FIRST_SHIFTED_BIN; context++) {
  const phase = context & 7;
  fillContext(context, FREQUENCY_ROWS[PHASE_ROWS * (context >> 3) + Math.min(phase, 8 - phase)]!, phase > 4);
}
for (const parity of [0, 1])
  fillContext(8 * FIRST_SHIFTED_BIN + parity, FREQUENCY_ROWS[PHASE_ROWS * FIRST_SHIFTED_BIN + parity]!, false);
FREQUENCY.fill(0, FLAG_CONTEXT * SYMBOLS);
FREQUENCY.set(FLAG_FREQUENCY, FLAG_CONTEXT * SYMBOLS);

/** uint16[CONTEXTS * SYMBOLS]: sum of the preceding frequencies in the same context. */
export const START = new Uint16Array(CONTEXTS * SYMBOLS);
for (let context = 0; context < CONTEXTS; context++) {
  let sum = 0;
  for (let at = context * SYMBOLS; at < (context + 1) * SYMBOLS; at++) {
    START[at] = sum;
    sum += FREQUENCY[at]!;
  }
  if (sum !== 1 << TABLE_BITS)
    throw new Error(`context ${context}: frequencies add up to ${sum}, must be ${1 << TABLE_BITS}`);
}
