// Light, dark, or as the system is set; kept in the browser.
import { computed, effect, signal } from "@preact/signals";

export type Scheme = "auto" | "light" | "dark";

const KEY = "bentpipe.scheme";
const system = matchMedia("(prefers-color-scheme: dark)");
const isSystemDark = signal(system.matches);
system.addEventListener("change", (event) => (isSystemDark.value = event.matches));

function kept(): Scheme {
  const value = localStorage.getItem(KEY);
  return value === "light" || value === "dark" ? value : "auto";
}

/** What was chosen. */
export const scheme = signal<Scheme>(kept());

/** What is shown: canvas code redraws when this changes. */
export const isDark = computed(() => (scheme.value === "auto" ? isSystemDark.value : scheme.value === "dark"));

effect(() => {
  if (scheme.value === "auto") {
    delete document.documentElement.dataset["scheme"];
    localStorage.removeItem(KEY);
  } else {
    document.documentElement.dataset["scheme"] = scheme.value;
    localStorage.setItem(KEY, scheme.value);
  }
});

// Another tab of this page chose.
addEventListener("storage", (event) => {
  if (event.key === KEY) scheme.value = kept();
});
