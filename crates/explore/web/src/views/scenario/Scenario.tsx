// The view "Scenario".
import type { ViewProps } from "../../app/App";

export default function Scenario(_: ViewProps) {
  return <h1>Scenario</h1>;
}
