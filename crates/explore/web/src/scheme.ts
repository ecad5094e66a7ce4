// Runs before the first paint, so that a chosen scheme does not flash in after it. The rest
// of it is lib/scheme.ts.
const chosen = localStorage.getItem("bentpipe.scheme");
if (chosen === "light" || chosen === "dark") document.documentElement.dataset["scheme"] = chosen;
export {};
