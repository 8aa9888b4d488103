/** Sets the theme and the density before the first paint. Loaded by the page as a blocking script of its own. */
import { applyPreferences, storedPreferences } from "./state/stored-preferences.ts";

applyPreferences(storedPreferences());
