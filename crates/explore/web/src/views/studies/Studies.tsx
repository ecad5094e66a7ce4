// The view "Studies".
import type { ViewProps } from "../../app/App";

export default function Studies(_: ViewProps) {
  return <h1>Studies</h1>;
}
