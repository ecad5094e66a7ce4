// Where the sun stands. Source: the Astronomical Almanac's low-precision formulas, a
// hundredth of a degree between 1950 and 2050.
import { RADIAN, wrapped } from "./view";

const J2000_S = 946_728_000;
const DAY_S = 86_400;

/**
 * Longitude and latitude of the place below the sun. Without a calendar, time 0 is midnight
 * in Greenwich at an equinox.
 */
export function sunAt(time: number, startUnix: number | null): readonly [number, number] {
  if (startUnix === null) return [wrapped(180 - (360 * time) / DAY_S), 0];
  const days = (startUnix + time - J2000_S) / DAY_S;
  const anomaly = (357.528 + 0.9856003 * days) * RADIAN;
  const longitude = (280.46 + 0.9856474 * days + 1.915 * Math.sin(anomaly) + 0.02 * Math.sin(2 * anomaly)) * RADIAN;
  const tilt = (23.439 - 0.0000004 * days) * RADIAN;
  const latitude = Math.asin(Math.sin(tilt) * Math.sin(longitude)) / RADIAN;
  const ascension = Math.atan2(Math.cos(tilt) * Math.sin(longitude), Math.cos(longitude)) / RADIAN;
  return [wrapped(ascension - (280.46061837 + 360.98564736629 * days)), latitude];
}
