/** Checks of an owner's changes to a room, before they are sent. */
import {
  BODY_FIELDS,
  isTimeScale,
  mayBe,
  MOST_GRAVITY,
  MOST_WIND,
  SPANS,
  TIME_SCALE_TEXT,
  type TuningChange,
  type Wind,
  WIND_FIELDS,
  WIND_SPANS,
} from "../../../shared/members/tuningLimits.ts";
import { checkNumber, checkVector } from "./checkArguments.ts";
import { badArgument, UNKNOWN } from "../errors.ts";

function checkParts(field: string, value: unknown, most: number): [number, number, number] {
  const parts = checkVector(field, value);
  for (const part of parts) checkNumber(field, part, -most, most);
  return parts;
}

function checkWind({ velocity, ...numbers }: Partial<Wind>): Partial<Wind> {
  const wind: Partial<Wind> = velocity === undefined ? {} : { velocity: checkParts("wind", velocity, MOST_WIND) };
  for (const field of WIND_FIELDS)
    if (numbers[field] !== undefined)
      wind[field] = checkNumber(`wind.${field}`, numbers[field], WIND_SPANS[field].least, WIND_SPANS[field].most);
  return wind;
}

/** Checks all fields but the body. @throws PliantError BAD_ARGUMENT */
export function checkTuning(asked: Omit<TuningChange, "body">): TuningChange {
  const change: TuningChange = {};
  const { gravity, wind, timeScale, pins } = asked;
  if (gravity !== undefined) change.gravity = checkParts("gravity", gravity, MOST_GRAVITY);
  if (wind !== undefined) change.wind = checkWind(wind);
  if (timeScale !== undefined)
    change.timeScale = isTimeScale(timeScale) ? timeScale : badArgument("timeScale", timeScale, TIME_SCALE_TEXT);
  for (const field of BODY_FIELDS)
    if (asked[field] !== undefined) {
      const { least, most } = SPANS[field];
      change[field] = checkNumber(field, asked[field], least, most);
      if (!mayBe(field, asked[field], SPANS[field])) badArgument(field, asked[field], `whole, ${least} to ${most}`);
    }
  if (pins !== undefined) change.pins = typeof pins === "boolean" ? pins : badArgument("pins", pins, "true or false");
  if (asked.asScene) change.asScene = true;
  // A misspelled field would change nothing, and the caller would hear that it is done.
  for (const [field, value] of Object.entries(asked))
    if (value && !(field in change)) badArgument(field, value, UNKNOWN);
  return change;
}
