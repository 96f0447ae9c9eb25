def execute(text):
    return {"words": len(text.split())}
