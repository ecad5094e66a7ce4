// The view "Link".
import type { ViewProps } from "../../app/App";

export default function Link(_: ViewProps) {
  return <h1>Link</h1>;
}
