// The view "Sky".
import type { ViewProps } from "../../app/App";

export default function Sky(_: ViewProps) {
  return <h1>Sky</h1>;
}
