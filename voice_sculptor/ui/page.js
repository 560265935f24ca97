window.voiceSculptor = (() => {
  const KEY = "voice-sculptor-language";
  const remembered = () => {
    try { return localStorage.getItem(KEY); } catch { return null; }
  };
  const language = () => {
    const wanted = remembered() || navigator.language || "";
    return wanted.toLowerCase().startsWith("zh") ? "zh" : "en";
  };
  const show = (chosen) => {
    document.documentElement.lang = chosen;
    document.documentElement.classList.add("vs-ready");
  };
  const choose = (chosen) => {
    try { localStorage.setItem(KEY, chosen); } catch { /* private window: it lasts as long as the page */ }
    show(chosen);
  };
  const dice = () => String(crypto.getRandomValues(new Uint32Array(1))[0]);
  const reveal = () => {
    if (window.matchMedia("(max-width: 860px)").matches) {
      document.querySelector(".vs-results")?.scrollIntoView({ behavior: "smooth", block: "center" });
    }
  };

  // Gradio names each radio button by itself and leaves groups unnamed. With one name per group the arrow keys work,
  // Tab goes past the group in one step, and a screen reader says what is chosen.
  const tidy = () => {
    document.querySelectorAll(".gradio-container fieldset").forEach((group) => {
      const label = group.querySelector('[data-testid="block-info"]')?.textContent.trim();
      group.setAttribute("role", "radiogroup");
      if (label && group.getAttribute("aria-label") !== label) group.setAttribute("aria-label", label);
      group.querySelectorAll('input[type="radio"]').forEach((input) => {
        if (input.name !== group.id) input.name = group.id;
      });
    });
    document.querySelectorAll(".vs-dial").forEach((dial) => {
      const box = dial.querySelector('input[type="checkbox"]');
      const label = dial.querySelector('[data-testid="block-info"]')?.textContent.trim();
      if (box && label) box.setAttribute("aria-label", `${label}: ${box.parentElement.textContent.trim()}`);
    });
  };
  let planned = false;
  new MutationObserver(() => {
    if (planned) return;
    planned = true;
    requestAnimationFrame(() => { planned = false; tidy(); });
  }).observe(document.documentElement, { childList: true, subtree: true, characterData: true });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      document.getElementById("vs-generate")?.click();
    }
  });
  return { language, show, choose, dice, reveal };
})();
