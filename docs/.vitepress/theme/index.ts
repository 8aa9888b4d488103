/** VitePress' default theme with the reader's own fonts, so that the site loads none. */
import DefaultTheme from "vitepress/theme-without-fonts";
import "./style.css";

// oxlint-disable-next-line import/no-default-export -- VitePress reads the theme as the default export
export default DefaultTheme;
