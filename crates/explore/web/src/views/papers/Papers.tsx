// The view "Papers".
import type { ViewProps } from "../../app/App";

export default function Papers(_: ViewProps) {
  return <h1>Papers</h1>;
}
