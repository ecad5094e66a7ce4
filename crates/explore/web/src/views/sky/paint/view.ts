// What a projection can do: where things are on the canvas, and how they are drawn.
import { geoGraticule10, geoPath, type GeoProjection } from "d3-geo";
import type { Sky } from "../model";

/** Kilometres in the frame that turns with the earth. */
export type Point = readonly [number, number, number];

/** What is looked at. */
export interface Camera {
  /** Degrees of the middle of the picture. */
  longitude: number;
  latitude: number;
  /** 1 shows the whole earth. */
  zoom: number;
}

/** Where a point is on the canvas. */
export interface Spot {
  readonly x: number;
  readonly y: number;
  /** False behind the earth. */
  readonly isSeen: boolean;
}

/** Of satellites on the canvas: not in sight, beyond the edge of the earth, or in front. */
export const HIDDEN = 0;
export const BEYOND = 1;
export const FRONT = 2;

export type Context = CanvasRenderingContext2D;

/** A projection with a camera and a size. */
export interface View {
  /** Takes the size of the canvas in CSS pixels, the camera, and the radius of the earth. */
  set(width: number, height: number, camera: Camera): void;
  /** Sea, land and meridians. */
  base(g: Context, land: GeoJSON.GeometryObject | undefined, colours: BaseColours): void;
  /** Where all satellites are: fills `xs`, `ys` and `sides`. */
  satellites(sky: Sky): void;
  readonly xs: Float32Array;
  readonly ys: Float32Array;
  readonly sides: Uint8Array;
  /** Puts all links that are up into the path; `side` is `FRONT` or `BEYOND`. */
  links(g: Context, sky: Sky, side: number): void;
  /** Puts the line from `a` to `b` into the path, or the part of it behind the earth. */
  line(g: Context, a: Point, b: Point, isBehind: boolean): void;
  /** Puts the rim of the cap of `half` degrees around the place below `at` into the path. */
  cap(g: Context, at: Point, half: number, isFilled: boolean): void;
  /** Puts the night into the path; the sun stands above this place. */
  night(g: Context, longitude: number, latitude: number): void;
  spot(at: Point): Spot;
  /** Longitude and latitude of a point of the canvas. */
  invert(x: number, y: number): readonly [number, number] | undefined;
  /** The camera after a drag by so many pixels. */
  drag(camera: Camera, dx: number, dy: number): Camera;
}

export interface BaseColours {
  readonly space: string;
  readonly sea: string;
  readonly land: string;
  readonly coast: string;
  readonly grid: string;
}

export const RADIAN = Math.PI / 180;

/** Degrees from -180 to 180. */
export function wrapped(degrees: number): number {
  return ((((degrees + 180) % 360) + 360) % 360) - 180;
}

/** What projections have in common: the size of the canvas, and places of satellites on it. */
export class Screen {
  protected width = 1;
  protected height = 1;
  xs = new Float32Array(0);
  ys = new Float32Array(0);
  sides = new Uint8Array(0);

  /** Arrays for `count` satellites, kept while they fit. */
  fit(count: number): void {
    if (this.sides.length === count) return;
    this.xs = new Float32Array(count);
    this.ys = new Float32Array(count);
    this.sides = new Uint8Array(count);
  }

  /** Meridians and land. */
  protected land(
    g: Context,
    projection: GeoProjection,
    land: GeoJSON.GeometryObject | undefined,
    colours: BaseColours,
  ) {
    const path = geoPath(projection, g);
    g.beginPath();
    path(geoGraticule10());
    g.strokeStyle = colours.grid;
    g.lineWidth = 0.6;
    g.stroke();
    if (land === undefined) return;
    g.beginPath();
    path(land);
    g.fillStyle = colours.land;
    g.fill();
    g.strokeStyle = colours.coast;
    g.lineWidth = 0.8;
    g.stroke();
  }
}
